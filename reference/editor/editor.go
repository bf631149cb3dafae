package editor

import (
	"context"
	"log/slog"
	"sync"

	"github.com/holdfast-mcp/holdfast/reference/editor/desk"
	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// Editor is what tools and the person work on: one desk for each draft, and the
// session that they share.
type Editor struct {
	ports Ports
	log   *slog.Logger
	stop  context.Context
	leave context.CancelFunc
	// asking are the requests whose answers nobody may be waiting for any more.
	asking sync.WaitGroup

	mu sync.Mutex
	// user is who is signed in, "" for nobody; whose is who was last, and what is shown.
	user, whose string
	session     int // the session generation
	desks       map[ports.Place]*seat
	next        int64
	running     map[int64]*running
}

// seat is a desk with its editor generation.
type seat struct {
	*desk.Desk
	editor int
}

// running is an operation whose caller waits for its answer.
type running struct {
	op     ports.Operation
	at     *seat
	cut    context.CancelFunc
	once   sync.Once
	done   chan struct{}
	answer ports.Answer // once done is closed
}

// New is an editor at which nobody is signed in. It must be closed.
func New(p Ports, log *slog.Logger) *Editor {
	ctx, cancel := context.WithCancel(context.Background())
	return &Editor{ports: p, log: log, stop: ctx, leave: cancel, desks: map[ports.Place]*seat{}, running: map[int64]*running{}}
}

// Leave cuts what is in flight, and lets nothing begin.
func (e *Editor) Leave() { e.locked(e.leave) }

// Close leaves, and waits for what was in flight.
func (e *Editor) Close() {
	e.Leave()
	e.asking.Wait()
}

// seatOf is the desk of a draft. The caller holds the lock.
func (e *Editor) seatOf(draft string) *seat {
	at := ports.Place{User: e.whose, Draft: draft}
	s, there := e.desks[at]
	if !there {
		rules := desk.Rules{Admission: e.ports.Admission, Merging: e.ports.Merging, Showing: e.ports.Showing, Operations: e.ports.Operations}
		s = &seat{desk.New(at, ports.Generations{Session: e.session}, rules), 0}
		e.desks[at] = s
	}
	return s
}

func (e *Editor) find(draft string) *seat {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seatOf(draft)
}

// locked does something with a desk while nobody else does.
func (e *Editor) locked(do func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	do()
}

// begin takes a desk for an operation; its context ends with the caller's, with
// its deadline, with its generation and with the editor.
func (e *Editor) begin(ctx context.Context, draft string, bound func(context.Context) (context.Context, context.CancelFunc), take func(s *seat, id int64) (ports.Operation, ports.Answer, bool)) (context.Context, *running, ports.Answer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stop.Err() != nil {
		return ctx, nil, ports.Answer{Outcome: ports.NotSent, DraftID: draft, Code: ports.CodeCancelled, Reason: "the editor is leaving; nothing was sent"}
	}
	e.next++
	s := e.seatOf(draft)
	op, refused, taken := take(s, e.next)
	if !taken {
		return ctx, nil, refused
	}
	e.asking.Add(1)
	ctx, cut := e.bounded(ctx, bound)
	r := &running{op: op, at: s, done: make(chan struct{}), cut: cut}
	e.running[op.ID] = r
	return ctx, r, ports.Answer{}
}

// bounded is a context that ends with its deadline, and with the editor.
func (e *Editor) bounded(ctx context.Context, bound func(context.Context) (context.Context, context.CancelFunc)) (context.Context, context.CancelFunc) {
	ctx, cut := bound(ctx)
	unhook := context.AfterFunc(e.stop, cut)
	return ctx, func() { unhook(); cut() }
}

// settle ends an operation, unless it is over.
func (e *Editor) settle(r *running, how func() ports.Ending) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a, ended := r.at.Settle(r.op, how()); ended {
		e.over(r, a)
	}
}

// over hands the answer to whoever waits for it. The caller holds the lock.
func (e *Editor) over(r *running, a ports.Answer) {
	r.once.Do(func() {
		r.answer = a
		delete(e.running, r.op.ID)
		close(r.done)
		r.cut()
	})
}

// load makes sure that a desk has values.
func (e *Editor) load(ctx context.Context, s *seat) error {
	var begun desk.Reading
	var loaded bool
	e.locked(func() { begun, loaded = s.Read(), s.Loaded() })
	if loaded {
		return nil
	}
	return e.read(ctx, s, begun)
}

func (e *Editor) read(ctx context.Context, s *seat, begun desk.Reading) error {
	draft, err := e.ports.Trips.Draft(ctx, s.Place().Draft)
	if err != nil {
		return err
	}
	e.locked(func() { s.Load(begun, draft) })
	return nil
}
