import type { Command } from '@holdfast/core/types';
import {
  type CommandRule,
  foldProgram,
  isAllowedBy,
  matchRule,
  type RuleMatch,
  readCommandRule,
} from './command-rule.ts';

/** Why a command is destructive, and if an agent may ever run it. */
interface Group {
  readonly why: string;
  /** It administers the machine: never part of a task. */
  readonly never?: true;
  readonly commands: readonly string[];
}

/** Commands that are irreversible, or affect more than the workspace. Deleted files are separate facts. */
const groups: readonly Group[] = [
  {
    why: 'changes disks, users, services or permissions of this machine',
    never: true,
    commands: [
      ...'chpasswd doas fdisk groupadd groupdel halt init insmod iptables ip6tables kexec killall5 mkfs'.split(' '),
      ...'mkfs.btrfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.fat mkfs.vfat mkfs.xfs mkswap modprobe mount nft'.split(' '),
      ...'parted passwd pkexec poweroff reboot rmmod shutdown su sudo swapoff telinit umount useradd userdel'.split(
        ' ',
      ),
      ...'usermod visudo wipefs'.split(' '),
    ],
  },
  {
    why: 'starts or ends processes on this machine',
    commands: 'at batch chroot crontab kill killall launchctl pkill service systemctl systemd-run'.split(' '),
  },
  { why: 'changes the permissions of many files', commands: ['chmod -R', 'chmod 777', 'chown -R', 'chgrp -R'] },
  {
    why: 'overwrites or deletes shared history of the repository',
    commands: [
      ...['--delete', '--force', '--force-with-lease', '--mirror', '--prune'].map((option) => `git push ${option}`),
      'gh repo delete',
    ],
  },
  {
    why: 'loses work that Git would have kept',
    commands: [
      ...['branch -D', 'checkout -f', 'checkout .', 'clean -f', 'filter-branch', 'filter-repo', 'reflog delete'],
      ...['reflog expire', 'reset --hard', 'restore .', 'stash clear', 'stash drop', 'switch -f', 'update-ref -d'],
      ...['switch --discard-changes', 'worktree remove -f'],
    ].map((part) => `git ${part}`),
  },
  {
    why: 'publishes, withdraws a release, or changes accounts and settings of a registry',
    commands: [
      ...['npm', 'pnpm', 'yarn', 'cargo'].flatMap((program) =>
        ['publish', 'unpublish', 'yank', 'token', 'login', 'config set', 'owner'].map((part) => `${program} ${part}`),
      ),
      'twine upload',
      'gem push',
    ],
  },
  {
    why: 'deletes data or resources',
    commands: [
      ...['docker', 'podman'].flatMap((program) => [
        `${program} system prune`,
        ...['volume', 'image', 'container', 'network'].flatMap((part) => [
          `${program} ${part} prune`,
          `${program} ${part} rm`,
        ]),
      ]),
      ...['kubectl delete', 'terraform destroy', 'helm uninstall', 'aws s3 rm', 'aws s3 rb', 'dropdb', 'dropuser'],
    ],
  },
  { why: 'is a command of Holdfast itself', commands: ['holdfast'] },
];

const rules: readonly (CommandRule & Omit<Group, 'commands'>)[] = groups.flatMap(({ commands, ...group }) =>
  commands.map((text) => ({ ...readCommandRule(text), ...group })),
);
const byProgram = Map.groupBy(rules, ({ folded }) => folded);

/** The command that it runs is judged by itself. */
const reportedRun = readCommandRule('holdfast guard run --');

/** The effect of a destructive command, and if that is certain; `undefined` for any other command. */
export interface Destructive {
  readonly rule: string;
  readonly why: string;
  readonly never: boolean;
  readonly match: Exclude<RuleMatch, 'no'>;
}

export function findDestructive(command: Command): Destructive | undefined {
  const name = foldProgram(command.program);
  // Also `git-push`.
  const candidates = [...(byProgram.get(name) ?? []), ...(byProgram.get(name.split('-', 1)[0] ?? '') ?? [])];
  if (name === 'holdfast' && isAllowedBy(reportedRun, { ...command, program: name })) return undefined;
  let possible: Destructive | undefined;
  for (const rule of candidates) {
    const match = matchRule(rule, command);
    if (match === 'no') continue;
    const found = { rule: rule.text, why: rule.why, never: rule.never === true, match };
    if (match === 'yes') return found;
    possible ??= found;
  }
  return possible;
}
