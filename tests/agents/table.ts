import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, type TestContext } from 'vitest';

const guide = new URL('../../apps/docs/guide/guard.md', import.meta.url);

/**
 * After a run in which all tests of a file passed, the guide's table about the agent has their titles as rows, with the version and date. A
 * title is `a call → what was seen`.
 */
export function writeTable(agent: string): void {
  let tasks: TestContext['task']['file']['tasks'] = [];
  afterEach(({ task }) => {
    tasks = task.file.tasks;
  });
  afterAll(() => {
    if (tasks.length === 0 || !tasks.every(({ result }) => result?.state === 'pass')) return;
    const rows = tasks.map(({ name: title }) => `| ${title.replace(' → ', ' | ')} |`);
    const date = new Date().toISOString().slice(0, 10);
    const table = [`| ${agent}, ${date} | Seen |`, '| --- | --- |', ...rows].join('\n');
    const name = agent.slice(0, agent.lastIndexOf(' '));
    const old = new RegExp(`^\\| ${name} \\S+, .+ \\| Seen \\|\\n(?:\\|.*\\n)+`, 'm');
    const text = readFileSync(guide, 'utf8');
    if (!old.test(text)) throw new Error(`${guide.pathname} has no table about ${name}.`);
    writeFileSync(
      guide,
      text.replace(old, () => `${table}\n`),
    );
  });
}
