package durability

import (
	"time"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// handledWrites is how many writes a handle may show something of.
const handledWrites = 3

// handles are the specs of IDs that a server gives out for later calls.
var handles = []suites.Test{
	{
		ID: "DU-17/on-another-connection", Clauses: []string{"DU-17"}, NotFor: noHandles,
		Title: "a handle that was issued on one connection works on another one",
		Drive: on(func(s *scene) {
			handle := s.handle()
			s.uses(s.helper.Another(), handle, "elsewhere")
		}),
		Judge: judge.HandleWorks("on another connection"),
	},
	{
		ID: "DU-17/after-a-restart", Clauses: []string{"DU-17"}, NotFor: noHandles,
		Title: "a handle works after a restart within its stated lifetime",
		Drive: on(func(s *scene) {
			handle := s.handle()
			s.helper.Killed()
			s.helper = s.NewCaller()
			s.uses(s.helper, handle, "elsewhere")
		}),
		Judge: judge.HandleWorks("after a restart"),
	},
	{
		ID: "DU-17/unknown", Clauses: []string{"DU-17"}, NotFor: noHandles,
		Title: "a handle that was never issued gets an error that says so, and is not taken for one that shows nothing",
		Drive: on(func(s *scene) {
			told := s.Target.Profiles.Durability.Handles.Unknown.Told
			s.stated(told)
			s.fill()
			handle := s.helper.Issued(s.fresh())
			s.uses(s.helper, handle, "trial")
			s.helper.Uses(s.NeverIssued(handle), "wrong", told, s.fresh())
		}),
		Judge: judge.WrongHandleIsTold("was never issued"),
	},
	{
		ID: "DU-17/expired", Clauses: []string{"DU-17"}, NotFor: noExpiry,
		Title: "a handle whose lifetime is over gets an error that says so",
		Drive: on(func(s *scene) {
			expired := *s.Target.Profiles.Durability.Handles.Expired
			after, err := time.ParseDuration(expired.After)
			if err != nil {
				world.Broken("reading handles.expired.after: %v", err)
			}
			s.stated(expired.Told)
			s.fill()
			s.EndCallers()
			s.helper = s.NewCallerWith(expired.Env, "a helper whose handles live short")
			s.uses(s.helper, s.helper.Issued(s.fresh()), "trial")
			handle := s.helper.Issued(s.fresh())
			s.Outlives(after)
			s.helper.Uses(handle, "wrong", expired.Told, s.fresh())
		}),
		Judge: judge.All(judge.WrongHandleIsTold("has expired"), judge.HandleOutlived),
	},
}

// noHandles says that the server is not said to give out handles.
func noHandles(f *target.File) string {
	if f.Profiles.Durability != nil && f.Profiles.Durability.Handles == nil {
		return "the target file names no calls that give out and take a handle (profiles.durability.handles), so that the server is not said to have any"
	}
	return ""
}

// noExpiry says that nothing tells how a handle comes to expire while a spec waits.
func noExpiry(f *target.File) string {
	if why := noHandles(f); why != "" {
		return why
	}
	if f.Profiles.Durability != nil && f.Profiles.Durability.Handles.Expired == nil {
		return "the target file does not say how handles come to expire while a spec waits (profiles.durability.handles.expired)"
	}
	return ""
}

// fill writes what handles may show something of.
func (s *scene) fill() {
	for range handledWrites {
		s.write()
	}
}

// stated tells the judges what the target file says of handles.
func (s *scene) stated(told string) {
	h := s.Target.Profiles.Durability.Handles
	after := ""
	if h.Expired != nil {
		after = h.Expired.After
	}
	s.Mark(world.HandlesMark, map[string]any{"lifetime": h.Lifetime, "after": after, "told": told})
}

// handle is an issued handle. Another one was tried twice before, on the connection that
// both were issued on: where the second time was accepted too, this one is used there
// once, to be compared with.
func (s *scene) handle() string {
	s.stated("")
	s.fill()
	trial := s.helper.Issued(s.fresh())
	s.uses(s.helper, trial, "trial")
	again := s.uses(s.helper, trial, "again")
	handle := s.helper.Issued(s.fresh())
	if again.Outcome() == history.Done {
		s.uses(s.helper, handle, "own")
	}
	return handle
}

func (s *scene) uses(by *world.Caller, handle, which string) history.Operation {
	return by.Uses(handle, which, "", s.fresh())
}
