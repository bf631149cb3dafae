package editor

import (
	"net"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// A port that is given for both serves the tools and the person.
func TestBothSurfacesAtOnePort(t *testing.T) {
	g := NewWithT(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	addr := free.Addr().String()
	g.Expect(free.Close()).To(Succeed())
	w := start(t, "http", func(c *Config, _ *Ports) { c.HTTPAddr, c.PersonAddr = addr, addr })
	g.Expect(w.mcp).To(Equal("http://" + addr + "/mcp"))
	g.Expect(w.person).To(Equal("http://" + addr))
	g.Expect(w.sees("trip-1").State).To(Equal(ports.Saved))
	session, leave := w.connected("2025-11-25")
	defer leave()
	tools, err := session.ListTools(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tools.Tools).To(HaveLen(5))
}
