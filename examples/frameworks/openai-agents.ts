// A program on OpenAI Agents gets policies, approvals and a log by one line. Its tools stay as they are; a question interrupts the run.
import assert from 'node:assert/strict';
import { governTool } from '@holdfast/guard/openai-agents';
import {
  Agent,
  type ModelResponse,
  tool as openAiTool,
  Runner,
  RunState,
  type StreamEvent,
  Usage,
} from '@openai/agents';
import { z } from 'zod';
import { openDesk } from './desk.ts';

const { guard, refunds, lookUp, refund, nextCall } = openDesk();

// The line.
const tool = governTool(guard, openAiTool);

const parameters = z.object({ order: z.number() });
const tools = [
  tool({ name: 'look_up', description: 'Look an order up.', parameters, execute: lookUp }),
  tool({ name: 'refund', description: 'Refund an order.', parameters, execute: refund }),
];

// Stands for a model.
const model = {
  async getResponse(): Promise<ModelResponse> {
    const call = nextCall();
    const said = { type: 'message', role: 'assistant', status: 'completed' } as const;
    const output: ModelResponse['output'] =
      call === undefined
        ? [{ ...said, content: [{ type: 'output_text', text: 'Done.' }] }]
        : [{ type: 'function_call', callId: call.id, name: call.name, arguments: '{"order":17}' }];
    return { usage: new Usage(), output };
  },
  getStreamedResponse(): AsyncIterable<StreamEvent> {
    throw new Error('Not streamed.');
  },
};

const agent = new Agent({ name: 'desk', instructions: 'Help with orders.', model, tools });
const runner = new Runner({ tracingDisabled: true });
const first = await runner.run(agent, 'Refund order 17.');
assert.match(JSON.stringify(first.history), /needs `look_up` to succeed first/);
assert.equal(first.interruptions.length, 1);
assert.deepEqual(refunds, []);
console.log('refund before look_up: denied; after it: a person is asked');

const stored = first.state.toString();
// The answer arrives twice, as from a second click.
for (let count = 0; count < 2; count += 1) {
  const state = await RunState.fromString<undefined, typeof agent>(agent, stored);
  for (const question of state.getInterruptions()) state.approve(question);
  await runner.run(agent, state);
}
assert.deepEqual(refunds, [17]);
console.log('approved twice, refunded once');
