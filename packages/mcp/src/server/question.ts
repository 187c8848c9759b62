import type { PendingApproval } from '@holdfast/core';
import { cutMiddle, toPrintable, toPrintableBlock } from '@holdfast/core/internal';
import { type InputRequiredResult, inputRequired, inputResponse } from '@modelcontextprotocol/server';

const key = 'approval';
const longestInput = 4_000;

/** Asks the client's user. Hidden characters are made visible, so that the user approves what they see. */
export function askClient({ name, input, asks }: PendingApproval, state: string): InputRequiredResult {
  const reasons = asks.map(({ reason = 'no reason given' }) => `- ${toPrintable(reason)}`);
  const shown = toPrintableBlock(cutMiddle(JSON.stringify(input, null, 2), longestInput));
  const message = [`Holdfast asks: run \`${toPrintable(name)}\`?`, ...reasons, shown].join('\n');
  return inputRequired({
    requestState: state,
    inputRequests: {
      [key]: inputRequired.elicit({
        message,
        requestedSchema: {
          type: 'object',
          properties: {
            approve: { type: 'boolean', title: 'Run it', description: 'This call, with these arguments, once.' },
          },
          required: ['approve'],
        },
      }),
    },
  });
}

/** The answer of the client's user. `undefined`: none, so the question stays open. */
export function readClientAnswer(responses: Record<string, unknown> | undefined): 'approve' | 'deny' | undefined {
  const response = inputResponse(responses, key);
  if (response.kind !== 'elicit' || response.action === 'cancel') return undefined;
  return response.action === 'accept' && response.content?.['approve'] === true ? 'approve' : 'deny';
}
