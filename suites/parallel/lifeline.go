package parallel

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// lifelines is the parent's end: one loopback connection a worker. A worker
// writes a byte when there is something to look at; the parent writes nothing.
type lifelines struct {
	token    string
	listener net.Listener
	nudge    func()
	// deserted is closed when workers have connected and all have left.
	deserted chan struct{}

	mu      sync.Mutex
	open    map[net.Conn]bool
	stopped bool
	greeted int
	gone    bool
	serving sync.WaitGroup
	nudging sync.Mutex
}

func listen(nudge func()) (*lifelines, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback for the workers: %w", err)
	}
	if nudge == nil {
		nudge = func() {}
	}
	l := &lifelines{token: rand.Text(), listener: listener, nudge: nudge, deserted: make(chan struct{}), open: map[net.Conn]bool{}}
	l.serving.Add(1)
	go l.accept()
	return l, nil
}

func (l *lifelines) address() string { return l.listener.Addr().String() }

func (l *lifelines) accept() {
	defer l.serving.Done()
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.mu.Lock()
		if l.stopped {
			conn.Close()
		} else {
			l.open[conn] = true
			l.serving.Add(1)
			go l.follow(conn)
		}
		l.mu.Unlock()
	}
}

// follow reads one connection to its end.
func (l *lifelines) follow(conn net.Conn) {
	defer l.serving.Done()
	in := bufio.NewReader(conn)
	greeting, err := in.ReadString('\n')
	worker := err == nil && greeting == l.token+"\n"
	if worker {
		l.mu.Lock()
		l.greeted++
		l.mu.Unlock()
		for {
			if _, err := in.ReadByte(); err != nil {
				break
			}
			l.tell()
		}
	}
	conn.Close()
	l.mu.Lock()
	delete(l.open, conn)
	if worker {
		l.greeted--
		if l.greeted == 0 && !l.gone {
			l.gone = true
			close(l.deserted)
		}
	}
	l.mu.Unlock()
	l.tell()
}

func (l *lifelines) tell() {
	l.nudging.Lock()
	defer l.nudging.Unlock()
	l.nudge()
}

// stop tells every worker to stop, those that come later as well.
func (l *lifelines) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	for conn := range l.open {
		conn.Close()
	}
}

// close ends the lifelines and waits for the last nudge.
func (l *lifelines) close() {
	l.stop()
	l.listener.Close()
	l.serving.Wait()
}

// tether is a worker's end of its lifeline.
type tether struct {
	conn net.Conn
}

// hold connects to the parent. The context ends when the parent stops the run
// or is gone; grace after that the process ends, whatever it is doing.
func hold(h handoff) (context.Context, *tether, error) {
	conn, err := net.Dial("tcp", h.Line)
	if err != nil {
		return nil, nil, fmt.Errorf("reaching the parent: %w", err)
	}
	if _, err := fmt.Fprintln(conn, h.Token); err != nil {
		return nil, nil, fmt.Errorf("greeting the parent: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		// The parent never writes: a read returns when the line has ended.
		_, _ = conn.Read(make([]byte, 1))
		cancel()
		time.AfterFunc(h.Grace, func() {
			fmt.Fprintln(os.Stderr, "holdfast worker: did not come to an end in time after the run was stopped")
			os.Exit(1)
		})
	}()
	return ctx, &tether{conn: conn}, nil
}

// tell makes the parent look. The parent may be gone.
func (t *tether) tell() { _, _ = t.conn.Write([]byte{'.'}) }
