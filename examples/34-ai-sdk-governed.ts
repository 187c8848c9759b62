// A program of the AI SDK gets policies, approvals and a log by two lines: its tools stay as they are, and the question goes through the
// SDK's own approvals.
import assert from 'node:assert/strict';
import { createGuard } from '@holdfast/guard';
import { governTools } from '@holdfast/guard/ai-sdk';
import { requireApproval, sequentialDependency } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import { generateText, isStepCount, type ModelMessage, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';

const refunds: number[] = [];
const order = z.object({ order: z.number() });
const tools = {
  look_up: tool({ inputSchema: order, execute: async ({ order: id }) => ({ id, euros: 250 }) }),
  refund: tool({ inputSchema: order, execute: async ({ order: id }) => ({ refunded: refunds.push(id) }) }),
};

// The two lines.
const policies = [sequentialDependency({ refund: ['look_up'] }), requireApproval({ tools: ['refund'] })];
const governed = governTools(createGuard({ session: createSession(), policies }), tools);

const call = (id: string, name: keyof typeof tools) => ({
  type: 'tool-call' as const,
  toolCallId: id,
  toolName: name,
  input: '{"order":17}',
});
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const answers = [
  call('1', 'refund'),
  call('2', 'look_up'),
  call('3', 'refund'),
  ...[1, 2].map(() => ({ type: 'text' as const, text: 'Done.' })),
];
const model = new MockLanguageModelV4({
  doGenerate: answers.map((content) => ({
    content: [content],
    finishReason: { unified: content.type === 'text' ? 'stop' : 'tool-calls', raw: undefined },
    usage,
    warnings: [],
  })),
});

const messages: ModelMessage[] = [{ role: 'user', content: 'Refund order 17.' }];
const first = await generateText({ model, messages, stopWhen: isStepCount(9), ...governed });
// Those that the SDK answered by itself, since the guard denied the call, are `isAutomatic`.
const requests = first.content.filter((part) => part.type === 'tool-approval-request');
const question = requests.find(({ isAutomatic }) => isAutomatic !== true);
assert(question);
assert.match(JSON.stringify(first.responseMessages), /Denied: .*look_up/);
assert.deepEqual(refunds, []);
console.log('refund before look_up: denied; after it: a person is asked');

const { approvalId } = question;
messages.push(...first.responseMessages, {
  role: 'tool',
  content: [{ type: 'tool-approval-response', approvalId, approved: true }],
});
// The answer arrives twice, as from a second click.
for (let count = 0; count < 2; count += 1) await generateText({ model, messages, ...governed });
assert.deepEqual(refunds, [17]);
console.log('approved twice, refunded once');
