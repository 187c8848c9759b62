import { expect, test } from 'vitest';
import { createTestHost } from '../testing/test-host.ts';
import { requirePerson } from './person.ts';

test.each([
  ['CLAUDECODE', 'claude'],
  ['GEMINI_CLI', 'gemini'],
  ['PI_CODING_AGENT', 'pi'],
  ['OPENCODE', 'opencode'],
])('where an agent has set %s, nobody counts as a person at a terminal', (name, agent) => {
  const { host } = createTestHost({ directory: '/', environment: { [name]: '1' } });
  const terminal = Object.assign(host.stdin, { isTTY: true });
  expect(() => requirePerson('approve', { stdin: terminal, environment: host.environment })).toThrow(
    `this runs below \`${agent}\``,
  );
});
