// A Mastra agent gets policies, approvals and a log by one line. Its tools stay as they are; a question suspends the call.
import assert from 'node:assert/strict';
import { governTools } from '@holdfast/guard/mastra';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { openDesk } from './desk.ts';

const { guard, refunds, lookUp, refund, nextCall } = openDesk();

const inputSchema = z.object({ order: z.number() });
const tools = {
  look_up: createTool({
    id: 'look_up',
    description: 'Look an order up.',
    inputSchema,
    execute: async (input) => lookUp(input),
  }),
  refund: createTool({
    id: 'refund',
    description: 'Refund an order.',
    inputSchema,
    execute: async (input) => refund(input),
  }),
};

// Stands for a model.
const model = new MockLanguageModelV4({
  async doGenerate() {
    const call = nextCall();
    return {
      content: [
        call === undefined
          ? { type: 'text', text: 'Done.' }
          : { type: 'tool-call', toolCallId: call.id, toolName: call.name, input: '{"order":17}' },
      ],
      finishReason: { unified: call === undefined ? 'stop' : 'tool-calls', raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 1, text: 1, reasoning: undefined },
      },
      warnings: [],
    };
  },
});

const desk = new Agent({
  ...{ id: 'desk', name: 'desk', instructions: 'Help with orders.' },
  // Mastra's own type of it is narrower than the SDK's.
  model: model as never,
  // The line.
  tools: governTools(guard, tools),
});
const agent = new Mastra({ agents: { desk }, storage: new InMemoryStore(), logger: false }).getAgent('desk');
const { runId, suspendPayload } = await agent.generate('Refund order 17.', { maxSteps: 9 });
assert.match(JSON.stringify(model.doGenerateCalls), /needs `look_up` to succeed first/);
assert(runId);
assert.equal(suspendPayload.toolCallId, 'call-3');
assert.deepEqual(refunds, []);
console.log('refund before look_up: denied; after it: a person is asked');

await agent.resumeGenerate({ approved: true }, { runId, toolCallId: 'call-3' });
// A second click: Mastra itself has forgotten the run.
const again = agent.resumeGenerate({ approved: true }, { runId, toolCallId: 'call-3' });
await assert.rejects(again, { id: 'AGENT_RESUME_NO_SNAPSHOT_FOUND' });
assert.deepEqual(refunds, [17]);
console.log('approved twice, refunded once');
