import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, test } from 'vitest';

const guide = new URL('../../apps/docs/guide/guard.md', import.meta.url);

export interface AgentTable {
  /** A test whose title is a row of the guide's table: a call, and what was seen. */
  row(call: string, seen: string, run: () => Promise<void>): void;
}

/** The rows about an agent in the guide are those of the last whole run, with its version and date. */
export function agentTable(agent: string): AgentTable {
  const rows: string[] = [];
  const passed = new Set<string>();
  afterAll(() => {
    if (passed.size < rows.length) return;
    const date = new Date().toISOString().slice(0, 10);
    const table = [`| ${agent}, ${date} | Seen |`, '| --- | --- |', ...rows].join('\n');
    const name = agent.split(' ')[0];
    const old = new RegExp(`^\\| ${name} \\S+, .+ \\| Seen \\|\\n(?:\\|.*\\n)+`, 'm');
    const text = readFileSync(guide, 'utf8');
    if (!old.test(text)) throw new Error(`${guide.pathname} has no table about ${name}.`);
    writeFileSync(
      guide,
      text.replace(old, () => `${table}\n`),
    );
  });
  return {
    row(call, seen, run) {
      const row = `| ${call} | ${seen} |`;
      rows.push(row);
      test(`${call}: ${seen}`, async () => {
        await run();
        passed.add(row);
      });
    },
  };
}
