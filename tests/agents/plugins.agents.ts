import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { codex } from './codex.ts';
import { gemini } from './gemini.ts';
import type { Said } from './model-server.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { installAgent, outcomes, runAgent, runHoldfast } from './rig.ts';

// Our plugins, added with the agents' own commands.

const shells = {
  codex: (command: string): Said => ({ call: 'exec_command', arguments: { cmd: command } }),
  gemini: (command: string): Said => ({ call: 'run_shell_command', arguments: { command } }),
  opencode: (command: string): Said => ({ call: 'bash', arguments: { command, description: 'Runs it' } }),
  pi: (command: string): Said => ({ call: 'bash', arguments: { command } }),
};
const done: readonly Said[] = [{ text: 'Finished.' }];

describe.each([codex, gemini, opencode, pi])('$name', (agent) => {
  const shell = shells[agent.name as keyof typeof shells];
  beforeAll(() => installAgent(agent));

  test.each(['alone', 'beside'] as const)('its plugin %s guards it, and each call is recorded once', async (plugin) => {
    await using ran = await runAgent(agent, [[shell('cat .env')], [shell('ls')], done], { plugin });
    expect(ran.leaked).toBe(false);
    expect(ran.requests.at(-1)).toContain('holds secrets');
    expect(ran.requests.at(-1)).toContain('a.txt');
    expect((await outcomes(ran)).map((line) => line.split(' ')[1])).toEqual([
      'denied',
      agent.name === 'codex' ? 'in-doubt' : 'ok',
    ]);
    const status = await runHoldfast(['guard', 'status'], ran);
    expect(status).toContain(`${agent.name}: guarded by its plugin`);
    expect(status.includes('one is enough')).toBe(plugin === 'beside');
    if (plugin === 'beside') await expect(runHoldfast(['guard', 'doctor'], ran)).rejects.toThrow('Command failed');
    // It is not installed a second time.
    await expect(runHoldfast(['guard', 'install', agent.name], ran)).rejects.toThrow('plugin_installed');
  });

  test('its plugin without its hook denies every call', async () => {
    await using ran = await runAgent(agent, [[shell('cat .env')], [shell('ls')], done], {
      plugin: 'alone',
      prepare: ({ home }) =>
        rm(
          join(
            agent.name === 'codex' || agent.name === 'gemini' ? home : join(home, '..', 'plugins'),
            hookOf(agent.name),
          ),
          {
            recursive: true,
          },
        ),
    });
    expect(ran.leaked).toBe(false);
    expect(ran.requests.at(-1)?.match(/the call is denied/g)?.length).toBeGreaterThanOrEqual(2);
  });
});

/** Where the agent runs the plugin's hook from: its own copy, or our folder. */
function hookOf(agent: string): string {
  switch (agent) {
    case 'codex':
      return '.codex/plugins/cache/holdfast/holdfast/0.0.0/hook';
    case 'gemini':
      return '.gemini/extensions/holdfast/hook';
    default:
      return `holdfast-${agent}/hook`;
  }
}
