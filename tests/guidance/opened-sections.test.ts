import { defineTool, visibilityExpansionRequired } from '@holdfast/core';
import { runAgent } from '@holdfast/executor';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { expect, test } from 'vitest';
import { call, playing, say, stop, testSession } from './guidance-fixtures.ts';

const needy = defineTool({
  name: 'needy',
  description: 'Needs a section.',
  execute: () => {
    throw visibilityExpansionRequired(['rules']);
  },
});
const prompt = createPrompt({
  ns: 'tests',
  key: 'opened',
  sections: [
    markdownSection({ title: 'Work', template: 'Work.', tools: [needy] }),
    markdownSection({ title: 'Rules', template: 'Be kind.', summary: 'How to behave.', visibility: 'summary' }),
  ],
});

test('a later call need not open a section that an earlier call of the turn opened: it is asked to call again', async () => {
  const model = playing(
    [call('needy', {}, 'a'), call('needy', {}, 'b'), stop],
    [call('needy', {}, 'c'), stop],
    [say('.'), stop],
  );
  const { outcomes } = await runAgent({ model, prompt, session: testSession().session, input: 'Go.' });
  expect(outcomes).toMatchObject([
    { kind: 'ok', text: 'Opened `rules`: their instructions and tools are available from now on.' },
    { kind: 'ok', text: 'The section that `needy` needs is open now. Call the tool again.' },
    // It saw the section open, and has no reason to request it.
    { kind: 'failed', code: 'section.unavailable', reason: 'open' },
  ]);
  expect(model.requests.map(({ messages }) => messages[0]?.text.includes('Be kind.'))).toEqual([false, true, true]);
});
