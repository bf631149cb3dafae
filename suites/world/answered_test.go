package world

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/faults/process"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// mortal is killed, and knows whether a call had ended by then.
type mortal struct {
	process.Victim
	call     *Flight
	answered chan bool
}

func (m mortal) Kill(context.Context) error {
	select {
	case <-m.call.done:
		m.answered <- true
	default:
		m.answered <- false
	}
	return nil
}

func TestAServerIsKilledBehindTheAnswerThatItOwes(t *testing.T) {
	for name, answers := range map[string]bool{"it answers": true, "it never does": false} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			limits := wait.Default()
			if !answers {
				limits.Withheld /= 30
			}
			call := &Flight{done: make(chan struct{})}
			victim := mortal{call: call, answered: make(chan bool, 1)}
			v := &answeredFirst{Victim: victim, w: &World{ctx: t.Context(), config: Config{Limits: limits}}, call: make(chan *Flight, 1)}
			v.call <- call
			killed := make(chan error)
			go func() { killed <- v.Kill(t.Context()) }()
			if answers {
				close(call.done)
			}
			g.Expect(<-killed).To(Succeed())
			g.Expect(<-victim.answered).To(Equal(answers))
		})
	}
}
