package helper

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestConfigurationFromTheEnvironment(t *testing.T) {
	g := NewWithT(t)
	c, err := FromEnv(env("SIDECAR", "s.db"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c).To(Equal(Config{Sidecar: "s.db", Access: []toolspec.Access{toolspec.Read, toolspec.Write}, BusyTimeout: 5 * time.Second, AppTimeout: 2 * time.Second}))
	c, err = FromEnv(env("SIDECAR", "s.db", "APP_URL", "http://127.0.0.1:1/", "STAGING_ROOT", "st", "HELPER_ACCESS", "read", "HELPER_TRANSPORT", "http", "PORT", "0", "BUSY_TIMEOUT", "1s", "APP_TIMEOUT", "3s"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c).To(Equal(Config{Sidecar: "s.db", AppURL: "http://127.0.0.1:1", StagingRoot: "st", Access: []toolspec.Access{toolspec.Read}, HTTPAddr: "127.0.0.1:0", BusyTimeout: time.Second, AppTimeout: 3 * time.Second}))
	for _, bad := range []struct {
		message string
		env     []string
	}{
		{"helper: SIDECAR is not set; set it to the path of the sidecar file", nil},
		{`helper: HELPER_ACCESS names "all", expected read, write or both with a comma`, []string{"HELPER_ACCESS", "all"}},
		{`helper: BUSY_TIMEOUT is "soon", expected a positive duration such as 500ms`, []string{"BUSY_TIMEOUT", "soon"}},
		{`helper: APP_TIMEOUT is "-1s", expected a positive duration such as 500ms`, []string{"APP_TIMEOUT", "-1s"}},
		{`helper: HELPER_TRANSPORT is "sse", expected stdio or http`, []string{"HELPER_TRANSPORT", "sse"}},
		{"helper: HELPER_TRANSPORT is http, but neither ADDR nor PORT is set; set PORT, 0 for any free one", []string{"HELPER_TRANSPORT", "http"}},
		{`helper: PORT is "99999", expected a port from 0 to 65535, 0 for any free one`, []string{"HELPER_TRANSPORT", "http", "PORT", "99999"}},
		{`helper: "0.0.0.0" is no loopback address; set ADDR to one, such as 127.0.0.1:80`, []string{"HELPER_TRANSPORT", "http", "ADDR", "0.0.0.0:80"}},
		{`helper: ADDR is "here", expected host:port: address here: missing port in address`, []string{"HELPER_TRANSPORT", "http", "ADDR", "here"}},
	} {
		if bad.env != nil {
			bad.env = append(bad.env, "SIDECAR", "s.db")
		}
		_, err := FromEnv(env(bad.env...))
		g.Expect(err).To(MatchError(bad.message))
	}
}

func TestItemIDsAreRandom(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]bool{}
	for range 1000 {
		seen[NewItemID()] = true
	}
	g.Expect(seen).To(HaveLen(1000))
	g.Expect(NewItemID()).To(MatchRegexp(`^item_[a-z2-7]{26}$`))
}
