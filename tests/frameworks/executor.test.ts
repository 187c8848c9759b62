import { readFileSync } from 'node:fs';
import { type ExecutorProgram, type ExecutorRun, executorConformance } from '@holdfast/testing/conformance';
import { generateText, isStepCount, type ModelMessage, type ToolApprovalStatus, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { z } from 'zod';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** The AI SDK as its documentation has it, without a guard. */
function runAiSdk({ calls, save, rule, deadlineMs }: ExecutorProgram): Promise<ExecutorRun> {
  const first = calls.map(({ id, name, arguments: input }) => ({
    ...({ type: 'tool-call' } as const),
    ...{ toolCallId: id, toolName: name, input },
  }));
  const model = new MockLanguageModelV4({
    doGenerate: [first, [{ type: 'text', text: 'Done.' } as const]].map((content, index) => ({
      content,
      finishReason: { unified: index === 0 ? ('tool-calls' as const) : ('stop' as const), raw: undefined },
      usage,
      warnings: [],
    })),
  });
  const staged: string[] = [];
  const tools = {
    save: tool({
      inputSchema: z.object({ text: z.string() }),
      execute: async ({ text }) => await save(text, (added) => staged.push(added)),
    }),
  };
  const toolApproval = (): ToolApprovalStatus => {
    if (rule === 'throws') throw new Error('Broken.');
    return rule === 'asks' ? 'user-approval' : undefined;
  };
  const proceed = async (messages: readonly ModelMessage[]): Promise<ExecutorRun> => {
    const stopWhen = isStepCount(2);
    const limits = deadlineMs === undefined ? {} : { timeout: { toolMs: deadlineMs } };
    const { content, responseMessages } = await generateText({
      model,
      tools,
      toolApproval,
      messages: [...messages],
      stopWhen,
      ...limits,
    });
    const question = content.find((part) => part.type === 'tool-approval-request');
    const results = (model.doGenerateCalls[1]?.prompt ?? []).flatMap(({ role, content: parts }) =>
      role === 'tool' ? parts : [],
    );
    const made: ExecutorRun = {
      finished: model.doGenerateCalls.length === 2,
      told: results.map((part) => JSON.stringify(part)),
      staged,
    };
    if (question === undefined || model.doGenerateCalls.length === 2) return made;
    const { approvalId } = question;
    const yes: ModelMessage = {
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId, approved: true }],
    };
    return { ...made, approve: () => proceed([...messages, ...responseMessages, yes]) };
  };
  return proceed([{ role: 'user', content: 'Go.' }]);
}

const table = readFileSync(new URL('../peers/table.md', import.meta.url), 'utf8');

/** A cell of the table that `npm run peers` writes: the AI SDK is its third column. */
function readCell(situation: string): string | undefined {
  const row = table.split('\n').find((line) => line.startsWith(`| ${situation} |`));
  return /\[(.+)\]/.exec(row?.split(' | ')[2] ?? '')?.[1];
}

// Its `timeout` only aborts the signal: a body that ignores it would hang the test.
const checks = executorConformance({ run: runAiSdk, without: ['state', 'deadlines'] }).filter(
  ({ skipped }) => skipped !== 'the executor is without `deadlines`',
);

test.each(checks)('the AI SDK without a guard, as in the table of the peers: $name', async ({ name, skipped, run }) => {
  const held = await run().then(
    () => 'held',
    () => 'not held',
  );
  expect(readCell(name)).toBe(skipped === undefined ? held : 'cannot be asked');
});
