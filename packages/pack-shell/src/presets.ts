import type { PackPreset } from '@holdfast/core';
import type { ShellGuardOptions } from './options.ts';

const readingGit = [
  'blame',
  'cat-file',
  'describe',
  'diff',
  'grep',
  'log',
  'ls-files',
  'ls-tree',
  'merge-base',
  'rev-list',
  'rev-parse',
  'shortlog',
  'show',
  'status',
];

// They read and print, whatever their arguments; what they do beyond that is among `writing`.
const reading = [
  ...'[ : b2sum base32 base64 basename cat cd cksum cmp column comm cut date df diff dirname dirs du echo egrep expand'.split(
    ' ',
  ),
  ...'expr false fgrep file find fold free grep groups head hexdump id join jq ls md5sum nl nproc od paste popd pr'.split(
    ' ',
  ),
  ...'printf ps pushd pwd readlink realpath rev rg seq sha1sum sha256sum sha512sum sleep sort stat strings tac tail'.split(
    ' ',
  ),
  ...'test tr tree true tsort type uname uniq uptime wc whereis which whoami'.split(' '),
  ...readingGit.flatMap((part) => [`git ${part}`, `git --no-pager ${part}`]),
  'git branch --list',
  'git branch --show-current',
  'git config --get',
  'git remote -v',
  'git remote get-url',
  'git stash list',
  'git tag --list',
  'git tag -l',
  'git worktree list',
  'cargo --version',
  'go version',
  'node --version',
  'node -v',
  'npm --version',
  'npm -v',
  'python --version',
  'python3 --version',
  'rustc --version',
];

// Options and arguments that make a reading command write or run something else.
const writing = [
  'base64 -o',
  'base64 --output',
  'date -s',
  'file -C',
  'file --compile',
  'find -delete',
  'find -fls',
  'find -fprint',
  'find -fprint0',
  'find -fprintf',
  'git --ext-diff',
  'git --filters',
  'git --output',
  'git --textconv',
  'git grep -O',
  // They take back what makes these commands read.
  'git branch --no-list',
  'git branch --no-show-current',
  'git config --no-get',
  // Behind `git remote -v`.
  ...['add', 'prune', 'remove', 'rename', 'rm', 'set-branches', 'set-head', 'set-url', 'show', 'update'].map(
    (part) => `git remote ${part}`,
  ),
  'rg --hostname-bin',
  'rg --pre',
  'sort --compress-program',
  'sort -o',
  'tree -R',
  'tree -o',
  'uniq * *',
];

const dangerous = [
  ...'chpasswd dd doas fdisk groupadd groupdel halt init insmod iptables ip6tables kexec killall5 mkfs'.split(' '),
  ...['mkfs.btrfs', 'mkfs.ext2', 'mkfs.ext3', 'mkfs.ext4', 'mkfs.fat', 'mkfs.vfat', 'mkfs.xfs', 'mkswap'],
  ...'modprobe mount nft parted passwd pkexec poweroff reboot rmmod shred shutdown su sudo swapoff telinit'.split(' '),
  ...'umount useradd userdel usermod visudo wipefs'.split(' '),
  'chmod -R',
  'chown -R',
  'crontab',
  'git clean -f',
  'git filter-branch',
  'git push --delete',
  'git push --force',
  'git push --force-with-lease',
  'git push --mirror',
  'git push --prune',
  'git reflog delete',
  'git reflog expire',
  'git reset --hard',
  'git update-ref -d',
  'npm publish',
  'npm unpublish',
  'pnpm publish',
  'rm -r',
  'yarn publish',
];

export const recommended: PackPreset<ShellGuardOptions> = {
  description: 'Reading commands run, dangerous ones do not, a person is asked about all others.',
  config: {
    allow: reading,
    ask: writing,
    deny: dangerous,
    unknown: 'ask',
    unclear: 'ask',
    writes: 'ask',
  },
};

export const strict: PackPreset<ShellGuardOptions> = {
  description:
    'Only reading commands run, and nobody is asked: no other command, no file written, nothing that is not clear.',
  config: {
    allow: reading,
    ask: [],
    deny: [...dangerous, ...writing],
    unknown: 'deny',
    unclear: 'deny',
    writes: 'deny',
  },
};
