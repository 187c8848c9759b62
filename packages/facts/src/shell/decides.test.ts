import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { describeCommand } from '../index.ts';
import { folder } from '../test-folder.ts';

const bin = mkdtempSync(join(tmpdir(), 'holdfast-decides-'));
writeFileSync(join(bin, 'check'), '#!/bin/sh\nexit 3\n');
writeFileSync(join(bin, 'push'), '#!/bin/sh\ntouch "$PUSHED"\n');
chmodSync(join(bin, 'check'), 0o755);
chmodSync(join(bin, 'push'), 0o755);
afterAll(() => rmSync(bin, { recursive: true }));

const isCheck = ({ program }: { readonly program: string }): boolean => program === 'check';

/** `proves`: a success proves that `check` succeeded. `before`: `push` only runs after it has. */
test.each([
  { line: 'check', proves: true, before: false },
  { line: 'check && push', proves: true, before: true },
  { line: 'check && echo a && push', proves: true, before: true },
  { line: 'echo a; check', proves: true, before: false },
  { line: 'cd src && check && push', proves: true, before: true },
  { line: '(check) && push', proves: true, before: true },
  { line: '{ check; } && push', proves: true, before: true },
  { line: '(cd src && check) && push', proves: true, before: true },
  { line: 'timeout 5 check && push', proves: true, before: true },
  { line: 'env A=1 check && push', proves: true, before: true },
  { line: 'A=1 check && push', proves: true, before: true },
  { line: 'time check', proves: true, before: false },
  { line: "sh -c 'check' && push", proves: true, before: true },
  { line: "bash -c 'check && push'", proves: true, before: true },
  { line: "bash -ec 'check; push'", proves: true, before: true },
  { line: 'set -e; check; push', proves: true, before: true },
  { line: 'set -e\ncheck\npush', proves: true, before: true },
  { line: 'set -eo pipefail; check | cat; push', proves: true, before: true },
  { line: 'set -o pipefail; check | cat && push', proves: true, before: true },
  { line: 'check || exit 1; push', proves: true, before: true },
  { line: 'check > out.txt 2>&1 && push', proves: true, before: true },
  { line: 'eval check && push', proves: true, before: true },
  { line: 'echo a | check && push', proves: true, before: true },
  { line: 'exec check', proves: true, before: false },
  { line: 'check; push', proves: false, before: false },
  { line: 'check | tail && push', proves: false, before: false },
  { line: 'check || true', proves: false, before: false },
  { line: 'check || true && push', proves: false, before: false },
  { line: 'check || push', proves: false, before: false },
  { line: '! check && push', proves: false, before: false },
  { line: 'check & push', proves: false, before: false },
  { line: 'check & wait && push', proves: false, before: false },
  { line: 'if check; then echo a; fi', proves: false, before: false },
  { line: 'if check; then push; fi', proves: false, before: true },
  { line: 'check; exit 0', proves: false, before: false },
  { line: 'exit 0; check', proves: false, before: false },
  { line: 'exit 0 && check && push', proves: false, before: false },
  { line: "trap 'exit 0' EXIT; check", proves: false, before: false },
  { line: 'check() { true; }; check && push', proves: false, before: false },
  { line: '(set -e; check; push) || true', proves: false, before: false },
  { line: 'set -e; check || true; push', proves: false, before: false },
  { line: 'set -e; (check; true) || push', proves: false, before: false },
  { line: 'while check; do push; break; done', proves: false, before: false },
  { line: 'for i in; do check; done; push', proves: false, before: false },
  { line: 'echo $(check) && push', proves: false, before: false },
  { line: 'true || check && push', proves: false, before: false },
  { line: 'echo a | xargs check; push', proves: false, before: false },
  { line: 'case a in b) check;; esac && push', proves: false, before: false },
  { line: 'set -e; f() { check; push; }; f || true', proves: false, before: false },
])('$line', ({ line, proves, before }) => {
  const { runs } = describeCommand(line, folder);
  const position = runs.findIndex(isCheck);
  expect(runs.filter(isCheck).some(({ decides }) => decides)).toBe(proves);
  expect(runs.some(({ program, after }) => program === 'push' && after.includes(position))).toBe(before);
  // In a real shell the check fails: then no command that proves it may succeed, and no command after it may run.
  const pushed = join(bin, `pushed-${runs.length}`);
  rmSync(pushed, { force: true });
  const { status } = spawnSync('bash', ['-c', `mkdir -p src; ${line}`], {
    cwd: bin,
    env: { PATH: `${bin}:/usr/bin:/bin`, PUSHED: pushed },
  });
  if (proves) expect(status).not.toBe(0);
  if (before) expect(spawnSync('test', ['-e', pushed]).status).not.toBe(0);
});

test('a background command is marked, and proves nothing', () => {
  const { runs } = describeCommand('npm test & (git status; ls) & setsid make', folder);
  expect(runs.map(({ program, background, decides }) => [program, background, decides])).toEqual([
    ['npm', true, false],
    ['git', true, false],
    ['ls', true, false],
    ['setsid', false, true],
    ['make', true, false],
  ]);
});
