package serving

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheAddress(t *testing.T) {
	for _, c := range []struct{ addr, port, want, says string }{
		{"", "8080", "127.0.0.1:8080", ""},
		{"", "0", "127.0.0.1:0", ""},
		{"localhost:1", "8080", "localhost:1", ""},
		{"[::1]:65535", "", "[::1]:65535", ""},
		{"", "", "", "it: HOW is http, but neither ADDR nor PORT is set; set PORT, 0 for any free one"},
		{"", "99999", "", `it: PORT is "99999", expected a port from 0 to 65535, 0 for any free one`},
		{"", "-1", "", `it: PORT is "-1", expected a port from 0 to 65535`},
		{"", "080", "", `it: PORT is "080", expected a port from 0 to 65535`},
		{"", "http", "", `it: PORT is "http", expected a port from 0 to 65535`},
		{"127.0.0.1:99999", "1", "", `it: ADDR is "127.0.0.1:99999", expected a port from 0 to 65535`},
		{"127.0.0.1", "1", "", `it: ADDR is "127.0.0.1", expected host:port`},
		{"0.0.0.0:80", "", "", `it: "0.0.0.0" is no loopback address; set ADDR to one, such as 127.0.0.1:80`},
		{"elsewhere.example:80", "", "", `it: "elsewhere.example" is no loopback address`},
	} {
		g := NewWithT(t)
		got, err := Address("it", "HOW", c.addr, c.port)
		g.Expect(got).To(Equal(c.want), c.addr+" "+c.port)
		if c.says == "" {
			g.Expect(err).NotTo(HaveOccurred(), c.addr+" "+c.port)
			continue
		}
		g.Expect(err).To(MatchError(HavePrefix(c.says)))
	}
}
