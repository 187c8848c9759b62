// A LangChain agent gets policies, approvals and a log by one line. Its tools stay as they are; a question is an interrupt.
import assert from 'node:assert/strict';
import { holdfastMiddleware } from '@holdfast/guard/langchain';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { Command, MemorySaver } from '@langchain/langgraph';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import { openDesk } from './desk.ts';

const { guard, refunds, lookUp, refund, nextCall } = openDesk();

const schema = z.object({ order: z.number() });
const tools = [
  tool((input) => JSON.stringify(lookUp(input)), { name: 'look_up', description: 'Look an order up.', schema }),
  tool((input) => JSON.stringify(refund(input)), { name: 'refund', description: 'Refund an order.', schema }),
];

// Stands for a model.
class ScriptedModel extends BaseChatModel {
  _llmType(): string {
    return 'scripted';
  }

  override bindTools(): this {
    return this;
  }

  async _generate(): Promise<ChatResult> {
    const call = nextCall();
    const tool_calls = call === undefined ? [] : [{ ...call, args: { order: 17 } }];
    return { generations: [{ text: '', message: new AIMessage({ content: 'Done.', tool_calls }) }] };
  }
}

const agent = createAgent({
  model: new ScriptedModel({}),
  tools,
  // The line.
  middleware: [holdfastMiddleware(guard)],
  checkpointer: new MemorySaver(),
});
const thread = { configurable: { thread_id: 'monday' } };
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Refund order 17.' }] }, thread);
assert.match(JSON.stringify(messages), /needs `look_up` to succeed first/);
assert.deepEqual(refunds, []);
const { tasks, config } = await agent.graph.getState(thread);
assert.equal(tasks.flatMap(({ interrupts }) => interrupts).length, 1);
console.log('refund before look_up: denied; after it: a person is asked');

const yes = new Command({ resume: { decisions: [{ type: 'approve' }] } });
await agent.invoke(yes, thread);
// The answer arrives twice, as from a second click on a page that shows the question.
await agent.invoke(yes, config);
assert.deepEqual(refunds, [17]);
console.log('approved twice, refunded once');
