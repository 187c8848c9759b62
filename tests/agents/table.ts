import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, type TestContext } from 'vitest';

const seen = new URL('seen.md', import.meta.url);
const guide = new URL('../../apps/docs/guide/guard.md', import.meta.url);

/**
 * After a run in which all tests of a file passed, `seen.md` has their titles as rows of the agent's table, with version, date and the
 * command that was run, and the guide's table has a row that sums them up. A title is `a call → what was seen`, in bold where the guard did
 * not hold.
 */
export function writeTable(agent: string, command: string): void {
  let tasks: TestContext['task']['file']['tasks'] = [];
  afterEach(({ task }) => {
    tasks = task.file.tasks;
  });
  afterAll(() => {
    if (tasks.length === 0 || !tasks.every(({ result }) => result?.state === 'pass')) return;
    const rows = tasks.map(({ name: title }) => `| ${title.replace(' → ', ' | ')} |`);
    const date = new Date().toISOString().slice(0, 10);
    const table = [`| ${agent}, \`${command}\`, ${date} | Seen |`, '| --- | --- |', ...rows].join('\n');
    const name = agent.slice(0, agent.lastIndexOf(' '));
    const old = new RegExp(`^\\| ${name} \\S+, .+ \\| Seen \\|\\n(?:\\|.*\\n)+`, 'm');
    const text = readFileSync(seen, 'utf8');
    const next = old.test(text) ? text.replace(old, () => `${table}\n`) : `${text}\n${table}\n`;
    writeFileSync(seen, next);
    const page = readFileSync(guide, 'utf8');
    const summary = /^\| Agent \| Run as .+\n(?:\|.*\n)+/m;
    if (!summary.test(page)) throw new Error(`${guide.pathname} has no table of agents.`);
    writeFileSync(
      guide,
      page.replace(summary, () => sumUp(next)),
    );
  });
}

/** The guide's table: for each agent the number of rows, and those where the guard did not hold. */
function sumUp(text: string): string {
  const rows = text
    .split(/^(?=\| .+, `.+`, \S+ \| Seen \|$)/m)
    .slice(1)
    .map((table) => {
      const [head = '', , ...lines] = table.trimEnd().split('\n');
      const [, agent = '', command = '', date = ''] = /^\| (.+), (`.+`), (\S+) \| Seen \|$/.exec(head) ?? [];
      const open = lines.filter((line) => line.includes('**')).map((line) => line.split(' | ')[0]?.slice(2));
      const unguarded = lines.filter((line) => line.includes('without a guard'));
      const held = lines.length - open.length - unguarded.length;
      return `| ${agent} | ${command} | ${date} | ${held} | ${open.join('; ')} |`;
    });
  const others = '| Claude Code, Cursor, GitHub Copilot CLI | not run: as published | | | |';
  return ['| Agent | Run as | Date | Held | Not held |', '| --- | --- | --- | --- | --- |', ...rows, others, ''].join(
    '\n',
  );
}
