package serving

import (
	"fmt"
	"net"
	"strconv"
)

// Address is where a process serves streamable HTTP: addr as host:port, else port of
// 127.0.0.1. It refuses what is no port, and every address that other machines could
// reach. process begins the error, and transport is the variable that asked for HTTP.
func Address(process, transport, addr, port string) (string, error) {
	variable, word := "ADDR", addr
	if addr == "" {
		if port == "" {
			return "", fmt.Errorf("%s: %s is http, but neither ADDR nor PORT is set; set PORT, 0 for any free one", process, transport)
		}
		variable, word, addr = "PORT", port, net.JoinHostPort("127.0.0.1", port)
	}
	host, number, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("%s: ADDR is %q, expected host:port: %w", process, addr, err)
	}
	if n, err := strconv.ParseUint(number, 10, 16); err != nil || strconv.FormatUint(n, 10) != number {
		return "", fmt.Errorf("%s: %s is %q, expected a port from 0 to 65535, 0 for any free one", process, variable, word)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("%s: %q is no loopback address; set ADDR to one, such as 127.0.0.1:%s", process, host, number)
	}
	return addr, nil
}
