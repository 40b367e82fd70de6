package servers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server's process and what it has started.
type process struct {
	pid int
	// ended is closed when the process has ended; err is valid then.
	ended chan struct{}
	err   error
}

// startProcess starts a command in a process group of its own. It is killed if
// this program ends without having stopped it.
func startProcess(cmd *exec.Cmd) (*process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	p := &process{ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel sends the signal when the thread ends that has started the
		// process, so this one lasts as long.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		if p.err = cmd.Wait(); p.err == nil {
			p.err = fmt.Errorf("exit status 0")
		}
		close(p.ended)
	}()
	return p, <-started
}

// signal sends a signal to the first process alone.
func (p *process) signal(sig syscall.Signal) {
	select {
	case <-p.ended: // its number may be another's by now
	default:
		syscall.Kill(p.pid, sig)
	}
}

// pause stops every process. A list may miss one that was just started, so
// it is made until nothing new is on it.
func (p *process) pause() {
	stopped := map[int]bool{}
	for again := true; again; {
		again = false
		for _, pid := range p.tree() {
			if !stopped[pid] {
				syscall.Kill(pid, syscall.SIGSTOP)
				stopped[pid], again = true, true
			}
		}
	}
}

func (p *process) resume() {
	for _, pid := range p.tree() {
		syscall.Kill(pid, syscall.SIGCONT)
	}
}

// kill ends every process and waits until they are gone.
func (p *process) kill() {
	// Stopped first, so that none is started meanwhile.
	p.pause()
	tree := p.tree()
	for _, pid := range tree {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	<-p.ended
	for slices.ContainsFunc(tree, alive) {
		time.Sleep(time.Millisecond)
	}
}

// tree lists the process, its descendants and the rest of its group. A database
// may well give each of its processes a group of its own.
func (p *process) tree() []int {
	type relation struct{ parent, group int }
	all := map[int]relation{}
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if f := status(pid); f != nil {
			parent, _ := strconv.Atoi(f[1])
			group, _ := strconv.Atoi(f[2])
			all[pid] = relation{parent, group}
		}
	}
	var tree []int
	for pid, r := range all {
		member := r.group == p.pid
		for up := pid; !member && up > 1; up = all[up].parent {
			member = up == p.pid
		}
		if member {
			tree = append(tree, pid)
		}
	}
	// The parent comes first: its number is the least, but for a wrap.
	slices.Sort(tree)
	return tree
}

func alive(pid int) bool {
	f := status(pid)
	return f != nil && f[0] != "Z" && f[0] != "X"
}

// status returns the fields of a process behind its name: state, parent, group
// and so on; nil if there is none.
func status(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	end := strings.LastIndexByte(string(text), ')')
	if f := strings.Fields(string(text[end+1:])); len(f) > 2 {
		return f
	}
	return nil
}

// own gives a directory to a user of this machine and makes a command run as
// that user, if this program runs as root: some servers refuse to. Otherwise
// everything stays with the one who runs it.
func own(cmd *exec.Cmd, name, dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return err
	}
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(uid), int(gid))
	})
}

// exclusive runs f while no other program does so with the same file.
func exclusive(name string, f func() error) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %q: %w", name, err)
	}
	return f()
}

// lockNow opens a file, made if it is missing, with a lock that lasts until it is
// closed or the process ends. The error is errKept if another has it.
func lockNow(name string) (*os.File, error) {
	for {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.Join(errKept, file.Close())
		case err != nil:
			return nil, errors.Join(fmt.Errorf("lock %q: %w", name, err), file.Close())
		}
		// The one who had it may have removed it in between.
		now, err := os.Stat(name)
		then, thenErr := file.Stat()
		if err == nil && thenErr == nil && os.SameFile(now, then) {
			return file, nil
		}
		file.Close()
	}
}

// terminate asks a process to end in good order.
func terminate(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }
