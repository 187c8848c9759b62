import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createFacts, shellFacts } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { shellGuard } from '@holdfast/pack-shell';
import { packPolicies } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';
import { afterAll, beforeEach, expect, test } from 'vitest';

/** Files that one call writes and another one runs. The calls really run, so that the second finds what the first wrote. */

const root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-steps-')));
const work = join(root, 'w');
beforeEach(() => {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(join(work, 'scripts'), { recursive: true });
  writeFileSync(join(work, '.env'), 'TOKEN=tulip\n');
  writeFileSync(join(work, 'old.sh'), 'echo old\n');
  writeFileSync(join(work, 'package.json'), '{"scripts":{"test":"true"}}\n');
});
afterAll(() => rmSync(root, { recursive: true }));

const bash = defineTool({
  name: 'bash',
  description: 'Runs a command.',
  inputSchema: v.object({ command: v.string() }),
  execute({ command }) {
    const { error, stdout } = spawnSync('bash', ['-c', command], {
      cwd: work,
      encoding: 'utf8',
      input: '',
      timeout: 60_000,
    });
    if (error !== undefined) throw error;
    return stdout;
  },
});

test.each<{ steps: readonly string[]; kinds: string }>([
  // Of this session's own script it is judged what it does.
  { steps: ["echo 'cat .env' > x.sh", 'sh x.sh'], kinds: 'ok denied' },
  { steps: ["echo 'ls' > x.sh", 'sh x.sh'], kinds: 'ok ok' },
  { steps: ["printf 'cat .e*' > x.sh", 'chmod +x x.sh', './x.sh'], kinds: 'ok ok denied' },
  { steps: ["echo 'cat .env' > scripts/x", '. scripts/x'], kinds: 'ok denied' },
  { steps: ["echo 'cat .env' > x.sh", 'mv x.sh y.sh', 'bash y.sh'], kinds: 'ok ok denied' },
  {
    steps: ["echo 'cat .env' > x.sh", 'cp x.sh /tmp/holdfast-two-steps.sh', 'sh /tmp/holdfast-two-steps.sh'],
    kinds: 'ok ok denied',
  },
  { steps: ["echo 'cat .env' >> old.sh", 'sh old.sh'], kinds: 'ok denied' },
  { steps: ["echo 'sudo ls' > x.sh", 'sh x.sh'], kinds: 'ok denied' },
  // Code of other languages is not read.
  { steps: ['echo \'print(open(".env").read())\' > x.py', 'python3 x.py'], kinds: 'ok denied' },
  { steps: ["echo 'x' > x.js", 'node x.js'], kinds: 'ok denied' },
  { steps: ["printf 'all:\\n\\tcat .env\\n' > Makefile", 'make'], kinds: 'ok denied' },
  // A write to a file that runs by itself asks.
  { steps: ["echo '{}' > package.json"], kinds: 'denied' },
  { steps: ['ln -s .env notes.md'], kinds: 'denied' },
  { steps: ['cp .env a.txt'], kinds: 'denied' },
  { steps: ['git config alias.x "!cat .env"', 'git x'], kinds: 'denied denied' },
  { steps: ["echo 'x=.env' > vars", '. ./vars; cat "$x"'], kinds: 'ok denied' },
  // Files that were there before are code of the workspace.
  { steps: ['sh old.sh'], kinds: 'ok' },
])('$steps: $kinds', async ({ steps, kinds }) => {
  const facts = createFacts({
    describers: [shellFacts()],
    view: { folder: work, workspace: work, disk: nodeDisk(work) },
  });
  const policies = [filesystemGuard, shellGuard].flatMap((pack) => packPolicies(pack));
  const options = { session: createSession(), tools: [bash], policies, facts, unattended: true };
  const found: string[] = [];
  for (const command of steps) {
    const outcome = await executeToolCall({ name: 'bash', arguments: { command } }, options);
    found.push(outcome.kind);
    if (outcome.kind === 'ok') expect(outcome.value).not.toContain('tulip');
  }
  expect(found.join(' ')).toBe(kinds);
});
