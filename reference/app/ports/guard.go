package ports

import "github.com/holdfast-mcp/holdfast/reference/app/session"

// Guard is the real OwnerGuard.
type Guard struct{}

// Admit decides nothing about an owner before the account is known (WR-18), and
// nothing in a locked library. The lock is known without an account: what waits for
// its user is not to be tried on its own as long as nobody is signed in (WR-23).
func (Guard) Admit(owner string, now Situation) error {
	known := now.Account.Phase == session.Restored || now.Account.Phase == session.Denied
	switch {
	case (!known || owner == "") && now.Locked:
		return ErrLibraryLocked
	case !known || owner == "":
		return ErrAccountUnresolved
	case owner != now.Account.Account:
		return OwnerMismatch{Owner: owner, Account: now.Account.Account}
	case now.Account.Phase == session.Denied:
		return session.ErrAccessDenied
	case now.Locked:
		return ErrLibraryLocked
	}
	return nil
}
