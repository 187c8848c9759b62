import { expect, test } from 'vitest';
import { describeCommand } from '../describe/shell.ts';
import { findDestructive } from './destructive.ts';

const view = { folder: '/w', workspace: '/w' };
const find = (line: string) => describeCommand(line, view).runs.flatMap((command) => findDestructive(command) ?? []);

test.each([
  'git push --force',
  'git push -f origin main',
  'git push origin +main',
  'git push origin :main',
  'git -C a push --forc',
  'git-push -f',
  'git reset --hard',
  'git clean -fdx',
  'git branch -D a',
  'git checkout -- .',
  "sh -c 'git reset --hard'",
  'ls; git stash drop',
  'xargs kill',
  'chmod -R 777 .',
  'npm publish',
  'npm --silent publish',
  'docker system prune -f',
  'kubectl delete pod a',
  'holdfast approve 1',
])('is destructive: %s', (line) => {
  expect(find(line)).toMatchObject([{ never: false, match: 'yes' }]);
});

test.each(['sudo ls', '/sbin/reboot', 'mkfs.ext4 /dev/sda', 'env doas ls', 'MKFS /dev/sda', 'mount -a'])(
  'is never allowed for an agent: %s',
  (line) => {
    expect(find(line)).toContainEqual(expect.objectContaining({ never: true, match: 'yes' }));
  },
);

test.each([
  'git push',
  'git branch -d merged',
  'git checkout main',
  'git stash',
  'git clean -n',
  'npm run publish-docs',
  'chmod +x a.sh',
  'rm -rf build',
  'echo sudo reboot',
  'grep "git reset --hard" notes.md',
])('is not destructive: %s', (line) => {
  expect(find(line)).toEqual([]);
});

test.each(['git push $x', 'git $x', 'npm $x'])('may be destructive: %s', (line) => {
  expect(find(line)).toMatchObject([{ match: 'maybe' }]);
});
