import { expect, test } from 'vitest';
import { measureAgentDojo } from './measure.ts';

test('the benchmark of AgentDojo still works, or says that its data is missing', async () => {
  const reports = await measureAgentDojo();
  const [first, ...others] = reports.map(({ name, figures }) => [name, figures.length]);
  if (others.length === 0) expect(first?.[0]).toContain('../shared/data/agentdojo');
  else expect([first, others.length]).toEqual([['agentdojo: no policy', 6], 16]);
});
