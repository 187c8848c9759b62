import type { Message, Model } from '@holdfast/core';
import * as v from 'valibot';
import { inputSchema, makeForecast } from '../call-path/forecast.ts';
import { type Advice, askByHand, instruction, outputSchema } from './advice.ts';

// A typical hand-written prompt: the fields and the answer format are in the text.
const system: Message = {
  role: 'system',
  text: `Your input fields are:
1. \`question\` (string): What the traveller asks

Your output fields are:
1. \`advice\` (string): What to tell the traveller
2. \`jacket\` (boolean): Whether a jacket is needed

Answer with a line \`[[ ## name ## ]]\` above each field, and \`[[ ## completed ## ]]\` at the end.

${instruction}`,
};
const callSystem: Message = {
  ...system,
  text: `${system.text}\n\nTools: forecast, {"city": string, "days"?: integer, "units"?: string}. To call one, answer with the field \`tool_call\` alone.`,
};

/** The work of one invoke: a prompt, a model, its answer read and validated. */
export async function adviseByHand(model: Model, question: string): Promise<Advice> {
  const fields = readFields(await askByHand(model, [system, toUser({ question })]));
  return v.parse(outputSchema, { ...fields, jacket: fields['jacket'] === 'true' });
}

/** A call of the tool, from its arguments as the model wrote them to the text that the model is given. */
export type MakeCall = (round: number, args: unknown) => Promise<string>;

/** The work of a tool loop: the same, with every requested call made and its result sent back. */
export async function adviseWithCalls(model: Model, question: string, makeCall: MakeCall): Promise<Advice> {
  let context = '';
  for (let round = 0; round < 5; round += 1) {
    const fields = readFields(await askByHand(model, [callSystem, toUser({ question, context })]));
    const { tool_call: toolCall } = fields;
    if (toolCall === undefined) return v.parse(outputSchema, { ...fields, jacket: fields['jacket'] === 'true' });
    const { name, args } = JSON.parse(toolCall) as { readonly name: string; readonly args: unknown };
    context += `Tool '${name}' returned: ${await makeCall(round, args)}\n`;
  }
  throw new Error('the loop did not end');
}

/** A bare call: validated by the tool's schema, and what it returns as JSON. */
export const callBare: MakeCall = async (_round, args) =>
  JSON.stringify(await makeForecast(v.parse(inputSchema, args)));

function toUser(fields: Readonly<Record<string, string>>): Message {
  const parts = Object.entries(fields).map(([name, text]) => `[[ ## ${name} ## ]]\n${text}`);
  return { role: 'user', text: parts.join('\n\n') };
}

function readFields(text: string): Readonly<Record<string, string>> {
  const parts = text.split(/^\[\[ ## (\w+) ## \]\]$/m);
  const fields: Record<string, string> = {};
  for (let index = 1; index < parts.length; index += 2) fields[parts[index] ?? ''] = (parts[index + 1] ?? '').trim();
  return fields;
}
