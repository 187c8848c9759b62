// One prompt for two shops: parameters with defaults, a conditional section, examples for the model.
import assert from 'node:assert/strict';
import { defineTool, isHoldfastError, toolOk } from '@holdfast/core';
import { runAgent } from '@holdfast/executor';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';

const sent = { description: 'One on its way', input: { number: 'A-7' }, output: { number: 'A-7', state: 'sent' } };
const findOrder = defineTool({
  name: 'find_order',
  description: 'Find an order by its number.',
  inputSchema: v.object({
    number: v.pipe(v.string(), v.description('As on the invoice')),
    withItems: v.optional(v.boolean(), false),
  }),
  outputSchema: v.object({ number: v.string(), state: v.string() }),
  effects: 'none',
  examples: [sent],
  execute: ({ number }) => toolOk({ number, state: 'sent' }),
});

const support = createPrompt({
  ns: 'examples/shop',
  key: 'support',
  name: 'Support of a shop',
  sections: [
    markdownSection({
      title: 'Role',
      template: 'You answer for $shop. Answer in $language.',
      params: v.object({ shop: v.string(), language: v.string() }),
      defaults: { language: 'English' },
      children: [
        markdownSection({
          title: 'Returns',
          template: 'Goods come back within $days days. Postage is up to $$5.',
          params: v.object({ days: v.optional(v.number(), 0) }),
          enabled: ({ days }) => days > 0,
        }),
        markdownSection({ title: 'Tone', template: 'Short and friendly.' }),
      ],
    }),
    markdownSection({
      title: 'Orders',
      template: 'Look up an order before you answer questions about it.',
      tools: [findOrder],
      taskExamples: [{ objective: 'Where is order A-7?', steps: [{ ...sent, tool: 'find_order' }], outcome: 'Sent.' }],
    }),
  ],
});

const teas = support.bind({ shop: 'Tea & Co.', days: 14 });
const { text, toolParamDescriptions } = teas.render();
assert.match(text, /^## 1\. Role \(role\)\n\nYou answer for Tea & Co\.\. Answer in English\.\n\n### 1\.1\. Returns/);
assert.match(text, /within 14 days\. Postage is up to \$5\./);
assert.match(text, /Example of a task: Where is order A-7\?/);
assert.equal(toolParamDescriptions.get('find_order')?.get('number')?.description, 'As on the invoice');

// A later value replaces an earlier one. Without returns their section is omitted; the next section keeps its number.
const books = teas.bind({ shop: 'Books', language: 'Dutch', days: 0 }).render().text;
assert.match(books, /You answer for Books\. Answer in Dutch\.\n\n### 1\.2\. Tone \(role\.tone\)/);
assert.throws(
  () => support.render(),
  (error) => isHoldfastError(error) && error.code === 'prompt.invalid' && error.reason === 'param.missing',
);

const model = scriptedModel([{ calls: [{ name: 'find_order', arguments: { number: 'A-9' } }] }, { text: 'Sent.' }]);
const run = runAgent({ model, prompt: teas, session: createSession(), input: 'Where is A-9?' });
assert.equal((await run.result).status, 'completed');
assert.equal(model.requests[0]?.messages[0]?.role === 'system' && model.requests[0].messages[0].text, text);
console.log('one prompt served two shops, and the model received exactly the rendered text');
