import type { PendingApproval } from '@holdfast/core';
import { cutMiddle, toPrintable, toPrintableBlock } from '@holdfast/core/internal';
import {
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server';
import type { Elicitation, ElicitationAnswer } from '../client/elicit.ts';

const key = 'approval';
const serverKey = 'question';
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

/** Asks the client's user for another server, and says which one it is. */
export function askForServer({ server, message, schema, url }: Elicitation, state: string): InputRequiredResult {
  const shown = `The MCP server \`${server}\` asks: ${cutMiddle(message, longestInput)}`;
  const requestedSchema = (schema ?? { type: 'object', properties: {} }) as ElicitRequestFormParams['requestedSchema'];
  const question =
    url === undefined
      ? inputRequired.elicit({ message: shown, requestedSchema })
      : inputRequired.elicitUrl({ message: shown, url });
  return inputRequired({ requestState: state, inputRequests: { [serverKey]: question } });
}

/** The answer to a server's question. `undefined`: none came, so the question stays open. */
export function readServerAnswer(responses: Record<string, unknown> | undefined): ElicitationAnswer | undefined {
  const response = inputResponse(responses, serverKey);
  if (response.kind !== 'elicit') return undefined;
  const { action, content } = response;
  if (action !== 'accept' || content === undefined) return { action };
  return { action, content: content as Extract<ElicitationAnswer, { action: 'accept' }>['content'] & object };
}
