import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { runProgram } from './program.ts';
import { callEnd, pendingApproval } from './test-events.ts';
import { createFolder } from './test-folder.ts';
import { createTestHost } from './test-host.ts';
import { writeLog } from './test-log.ts';
import { runShell, shellCommand, toTool } from './test-program.ts';

async function print(shell: string): Promise<string> {
  const { host, stdout } = createTestHost();
  expect(await runProgram(['completion', shell], host, '0')).toBe(0);
  return stdout();
}

const everything = [
  'run',
  'plan',
  'trace',
  'pending',
  'approve',
  'deny',
  'resume',
  'resolve',
  'grants',
  'show',
  'why',
  'replay',
  'verify',
  'new',
  'try',
  'check',
  'lock',
  'list',
  'explain',
  'config',
  'plugins',
  'trust',
  'pack',
  'policy',
  'overrides',
  'model',
  'serve',
  'doctor',
  'completion',
  'help',
  '--quiet',
  '--max-tokens',
  '--accept-config',
  '--no-config',
  '--tree',
  '--from',
  '--cases',
  '--max-rounds',
  '--unattended',
];

test.each([
  { shell: 'bash', names: ['complete -F _holdfast holdfast', ...everything] },
  { shell: 'zsh', names: ['#compdef holdfast', ...everything] },
  { shell: 'fish', names: ['complete -c holdfast', ...everything.map((name) => name.replace(/^--/, '-l '))] },
])('the script for $shell has every command and flag', async ({ shell, names }) => {
  const script = await print(shell);
  for (const name of names) expect(script).toContain(name);
});

test.each([
  { typed: ['holdfast', ''], offered: everything.filter((name) => !name.startsWith('--')) },
  { typed: ['holdfast', 'approve', '--d'], offered: ['--digest'] },
  { typed: ['holdfast', 'resolve', '2026'], offered: ['20260517-093012345-k3x9'] },
  { typed: ['holdfast', 'approve', '20260517-093012345-k3x9', 'wa'], offered: ['waits'] },
  { typed: ['holdfast', 'co'], offered: ['config', 'completion'] },
  { typed: ['holdfast', '--v'], offered: ['--version'] },
  { typed: ['holdfast', 'run', '--un'], offered: ['--unattended'] },
  { typed: ['holdfast', 'run', 'list', '--ma'], offered: ['--max-rounds', '--max-calls', '--max-tokens'] },
  { typed: ['holdfast', 'show', '--'], offered: ['--workspace', '--json', '--help'] },
  { typed: ['holdfast', 'run', '--model', 'o'], offered: ['offline', 'openai:'] },
  { typed: ['holdfast', 'run', '--timeout', ''], offered: [] },
  { typed: ['holdfast', 'completion', ''], offered: ['bash', 'zsh', 'fish'] },
  { typed: ['holdfast', 'check', 'my'], offered: ['my tools'] },
  { typed: ['holdfast', 'lock', '--tools', 'my tools', '--accept', 'po'], offered: ['polish_it'] },
  { typed: ['holdfast', 'lock', '--ac'], offered: ['--accept'] },
  { typed: ['holdfast', 'try', 'my'], offered: ['my tools'] },
  { typed: ['holdfast', 'try', 'comp'], offered: ['completion.bash'] },
  { typed: ['holdfast', 'run', 'x', '--isolation', 'w'], offered: ['worker'] },
  { typed: ['holdfast', 'try', 'x', '--isolation', 's'], offered: ['subprocess', 'sandbox'] },
  { typed: ['holdfast', 'new', ''], offered: ['tool', 'plugin', 'pack'] },
  { typed: ['holdfast', 'new', '--ty'], offered: ['--typescript'] },
  { typed: ['holdfast', 'pack', 'ch'], offered: ['check'] },
  { typed: ['holdfast', 'pack', 'check', 'comp'], offered: ['completion.bash'] },
  { typed: ['holdfast', 'pack', 'check', '--c'], offered: ['--cases'] },
  { typed: ['holdfast', 'plan', 'ch'], offered: ['check'] },
  { typed: ['holdfast', 'plan', 'run', 'comp'], offered: ['completion.bash'] },
  { typed: ['holdfast', 'plan', 'run', '--conc'], offered: ['--concurrency'] },
  { typed: ['holdfast', 'plan', '--me'], offered: ['--mermaid'] },
  { typed: ['holdfast', 'trace', '2026'], offered: ['20260517-093012345-k3x9'] },
  { typed: ['holdfast', 'trace', '--html', 'comp'], offered: ['completion.bash'] },
  { typed: ['holdfast', 'policy', 'o'], offered: ['observed'] },
  { typed: ['holdfast', 'policy', 'diff', '2026'], offered: ['20260517-093012345-k3x9'] },
  { typed: ['holdfast', 'policy', 'diff', '--from', 'comp'], offered: ['completion.bash'] },
  { typed: ['holdfast', 'policy', 'diff', '--p'], offered: ['--pack', '--preset'] },
  { typed: ['holdfast', 'model', 'p'], offered: ['pull'] },
  { typed: ['holdfast', 'model', 'pull', 'qwen3'], offered: ['qwen3-0.6b', 'qwen3-4b'] },
  { typed: ['holdfast', 'model', 'pull', '--s'], offered: ['--sha256'] },
  { typed: ['holdfast', 'overrides', 's'], offered: ['seed', 'status'] },
  { typed: ['holdfast', 'overrides', 'seed', 'comp'], offered: ['completion.bash'] },
  { typed: ['holdfast', 'overrides', 'seed', 'x', '--e'], offered: ['--export'] },
  { typed: ['holdfast', 'overrides', '--dir', 'my'], offered: ['my tools'] },
  { typed: ['holdfast', 'run', '--tools', 'my'], offered: ['my tools'] },
  { typed: ['holdfast', 'run', '--tools', 'my tools', '--allow', 'pol'], offered: ['polish_it'] },
  { typed: ['holdfast', 'run', '--subfolders', '--tools', 'my tools', '--allow', 'dig'], offered: ['dig_it'] },
  { typed: ['holdfast', 'run', '--tools', 'my tools', '--allow', 'dig'], offered: [] },
  { typed: ['holdfast', 'run', '--loc'], offered: ['--locked'] },
  { typed: ['holdfast', 'run', '--allow', 'read'], offered: ['read_file'] },
  ...['show', 'replay'].map((name) => ({
    typed: ['holdfast', name, '2026'],
    offered: ['20260517-093012345-k3x9'],
  })),
  { typed: ['holdfast', 'why', '2026'], offered: ['20260517-093012345-k3x9'] },
  { typed: ['holdfast', 'why', 'call_'], offered: ['call_1_0/1', 'call_1_0'] },
  { typed: ['holdfast', 'why', '20260517-093012345-k3x9', 'call_1_0/'], offered: ['call_1_0/1'] },
  { typed: ['holdfast', 'replay', '--'], offered: ['--workspace', '--at', '--json', '--help'] },
])('bash offers $offered after $typed', async ({ typed, offered }) => {
  await using folder = await createFolder({
    'completion.bash': await print('bash'),
    'my tools/polish.mjs': toTool('polish_it', 'return 1;'),
    'my tools/deep/dig.mjs': toTool('dig_it', 'return 1;'),
    // Words that a shell would run, where somebody else has written the log.
    '.holdfast/sessions/$(touch ran).jsonl': '',
  });
  const calls = ['call_1_0/1', 'call_1_0', '$(touch ran)'].map((callId) => callEnd('ok', { callId }));
  const questions = ['waits', '$(touch ran)'].map((callId) => ({
    type: 'approval-request',
    pending: pendingApproval({ callId }),
  }));
  await writeLog(folder.path, '20260517-093012345-k3x9', [...calls, ...questions]);
  const words = typed.map((word) => `'${word}'`).join(' ');
  const { stdout, stderr } = await runShell(
    `holdfast() { ${shellCommand} "$@"; }; source completion.bash
     COMP_WORDS=(${words}); COMP_CWORD=${typed.length - 1}; _holdfast
     for word in "\${COMPREPLY[@]}"; do echo "$word"; done; complete -p holdfast`,
    { folder: folder.path },
  );
  expect(stderr).toBe('');
  expect(stdout.trimEnd().split('\n')).toEqual([...offered, 'complete -F _holdfast holdfast']);
  expect(await readdir(folder.path)).not.toContain('ran');
});
