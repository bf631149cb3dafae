package sidecar

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
)

// childEnv makes the test binary a process that writes to a sidecar.
const childEnv = "SIDECAR_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		if err := child(role, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// child plays a helper process. It prints a line for each answer it would give.
func child(role string, args []string) error {
	ctx := context.Background()
	if role == "killed lifting" {
		point, _ := strconv.Atoi(args[1])
		from, _ := strconv.Atoi(args[2])
		killedAt(point, from)
	}
	s, err := OpenStore(ctx, args[0], Options{Busy: 20 * time.Second})
	if err != nil {
		return err
	}
	switch role {
	case "lift", "killed lifting":
		return s.Close()
	case "race": // one start under a key that others use too
		o, err := s.OpenWork(ctx, start(testID(args[1]), "task", "key"))
		if err != nil {
			return err
		}
		fmt.Println(o.Anchor.ItemID)
		return s.Close()
	case "write": // starts and notes without end
		for n := 0; ; n++ {
			id := fmt.Sprintf("item%d", n)
			if _, err := s.OpenWork(ctx, start(id, "task "+id, "start "+id)); err != nil {
				return err
			}
			fmt.Println(id)
			if _, err := s.Append(ctx, note(id, "note "+id)); err != nil {
				return err
			}
			fmt.Println("note " + id)
		}
	}
	return fmt.Errorf("no such role %q", role)
}

// testID makes IDs of different processes different.
func testID(of string) string { return "item-of-" + of }

func spawn(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), childEnv+"="+role)
	c.Stderr = os.Stderr
	return c
}

func TestFirstStartsOfManyProcessesRaceOnOneFreshFile(t *testing.T) {
	for range 5 {
		g := NewWithT(t)
		path := filepath.Join(t.TempDir(), "sidecar.db")
		const racers = 4
		answers := make([]string, racers)
		errs := make([]error, racers)
		var all sync.WaitGroup
		for n := range racers {
			all.Go(func() {
				var out []byte
				out, errs[n] = spawn(t, "race", path, fmt.Sprint(n)).Output()
				answers[n] = strings.TrimSpace(string(out))
			})
		}
		all.Wait()
		for n := range racers {
			g.Expect(errs[n]).NotTo(HaveOccurred())
			g.Expect(answers[n]).To(Equal(answers[0]), "one key, one ID (WR-06)")
		}
		g.Expect(answers[0]).To(HavePrefix("item-of-"))
		s := open(t, path)
		g.Expect(must[Numbers](t)(s.Numbers(t.Context()))).To(Equal(Numbers{Pending: 1}))
	}
}

func TestAKilledWriterLosesNothingThatItAnswered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sidecar.db")
	for _, answersBeforeKill := range []int{1, 2, 7, 40} {
		t.Run(fmt.Sprint(answersBeforeKill), func(t *testing.T) {
			g := NewWithT(t)
			for _, suffix := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(path + suffix); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
			c := spawn(t, "write", path)
			out, err := c.StdoutPipe()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(c.Start()).To(Succeed())
			lines := bufio.NewScanner(out)
			var answered []string
			for len(answered) < answersBeforeKill && lines.Scan() {
				answered = append(answered, lines.Text())
			}
			g.Expect(c.Process.Kill()).To(Succeed())
			for lines.Scan() { // answers that were on their way
				answered = append(answered, lines.Text())
			}
			g.Expect(c.Wait()).To(MatchError("signal: killed"))
			g.Expect(len(answered)).To(BeNumerically(">=", answersBeforeKill))

			s := open(t, path)
			for _, line := range answered {
				id := strings.TrimPrefix(line, "note ")
				list := must[[]Intent](t)(s.IntentsOf(t.Context(), id))
				g.Expect(list).NotTo(BeEmpty(), "%s was answered", line)
				g.Expect(list[0].Kind).To(Equal(StartKind))
				if id != line {
					g.Expect(list).To(HaveLen(2), "%s was answered", line)
				}
			}
			var alone int
			err = s.reader.QueryRowContext(t.Context(), `SELECT count(*) FROM anchors a WHERE NOT EXISTS (SELECT 1 FROM intents i WHERE i.item_id = a.item_id AND i.kind = 'start')`).Scan(&alone)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(alone).To(BeZero(), "anchor and start are one transaction (WR-03)")
		})
	}
}

func TestRacingCallsOfTwoStoresWithOneKey(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "sidecar.db")
	stores := []*Store{open(t, path), open(t, path)}
	const calls = 16
	ids := make([]string, calls)
	seqs := make([]int64, calls)
	errs := make([]error, calls)
	gate := make(chan struct{})
	var all sync.WaitGroup
	for n := range calls {
		all.Go(func() {
			<-gate
			s := stores[n%2]
			o, err := s.OpenWork(t.Context(), start(fmt.Sprintf("item%d", n), "task", "key"))
			if err != nil {
				errs[n] = err
				return
			}
			ids[n] = o.Anchor.ItemID
			f, err := s.Append(t.Context(), note(o.Anchor.ItemID, "note"))
			seqs[n], errs[n] = f.Intent.Seq, err
		})
	}
	close(gate)
	all.Wait()
	for n := range calls {
		g.Expect(errs[n]).NotTo(HaveOccurred())
		g.Expect(ids[n]).To(Equal(ids[0]))
		g.Expect(seqs[n]).To(Equal(seqs[0]))
	}
	g.Expect(must[Numbers](t)(stores[0].Numbers(t.Context()))).To(Equal(Numbers{Pending: 2}))
}

func TestConcurrentNotesOfTwoStoresAreAllThereInOrderOfAnswer(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "sidecar.db")
	stores := []*Store{open(t, path), open(t, path)}
	must[Opened](t)(stores[0].OpenWork(t.Context(), start("a", "task", "k")))
	const each = 25
	var all sync.WaitGroup
	answered := make([][]int64, 4)
	errs := make([]error, 4)
	for n := range answered {
		all.Go(func() {
			for k := range each {
				f, err := stores[n%2].Append(t.Context(), note("a", fmt.Sprintf("n%d-%d", n, k)))
				if err != nil {
					errs[n] = err
					return
				}
				answered[n] = append(answered[n], f.Intent.Seq)
			}
		})
	}
	all.Wait()
	for n := range answered {
		g.Expect(errs[n]).NotTo(HaveOccurred())
		for k := 1; k < each; k++ {
			g.Expect(answered[n][k]).To(BeNumerically(">", answered[n][k-1]))
		}
	}
	g.Expect(must[[]Intent](t)(stores[1].IntentsOf(t.Context(), "a"))).To(HaveLen(1 + 4*each))
}
