import type { Message, Model, ModelEvent } from '@holdfast/core';
import { defineSignature, type Signature } from '@holdfast/modules';
import * as v from 'valibot';
import { argumentsText, toolName } from '../call-path/forecast.ts';

export interface Question {
  readonly question: string;
}

export interface Advice {
  readonly advice: string;
  readonly jacket: boolean;
}

export const question = 'Shall I take a jacket to Utrecht?';
export const instruction = 'Advise the traveller on what to wear, in one sentence.';

export const outputSchema: v.GenericSchema<Advice> = v.object({
  advice: v.pipe(v.string(), v.description('What to tell the traveller')),
  jacket: v.pipe(v.boolean(), v.description('Whether a jacket is needed')),
});

export const advise: Signature<Question, Advice> = defineSignature<Question, Advice>({
  name: 'bench.advice',
  instruction,
  inputSchema: v.object({ question: v.pipe(v.string(), v.description('What the traveller asks')) }),
  outputSchema,
});

const end = '\n\n[[ ## completed ## ]]\n';
const answerText = `[[ ## advice ## ]]\nTake a light one, for the evening.\n\n[[ ## jacket ## ]]\ntrue${end}`;
const reasonedText = `[[ ## reasoning ## ]]\nIt is mild by day and cool at night.\n\n${answerText}`;
const callText = `[[ ## tool_call ## ]]\n{"name":"${toolName}","args":${argumentsText}}${end}`;
const submitted = '{"advice":"Take a light one, for the evening.","jacket":true}';

/** The messages of a model, one per request, repeated from the start. */
type Script = readonly (readonly ModelEvent[])[];

const finish: ModelEvent = { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: 5 } };
const say = (text: string): readonly ModelEvent[] => [{ type: 'text-delta', text }, finish];
const call = (name: string, text: string): readonly ModelEvent[] => [
  { type: 'tool-call', name, arguments: text },
  { ...finish, reason: 'tool-calls' },
];

export const answering: Script = [say(answerText)];
export const reasoning: Script = [say(reasonedText)];
/** Requests `calls` calls, one per message, in text, and then answers. */
export const callingInText = (calls: number): Script => [
  ...Array.from({ length: calls }, () => say(callText)),
  ...answering,
];
/** The same with native calls, including one for the answer. */
export const callingNatively = (calls: number): Script => [
  ...Array.from({ length: calls }, () => call(toolName, argumentsText)),
  call('submit', submitted),
];

export function playing(script: Script): Model {
  let asked = 0;
  return {
    id: 'bench:script',
    async *stream() {
      const message = script[asked % script.length] ?? [];
      asked += 1;
      yield* message;
    },
  };
}

/** The unavoidable part of a model request: reading the stream to its end. */
export async function askByHand(model: Model, messages: readonly Message[]): Promise<string> {
  const { signal } = new AbortController();
  let text = '';
  for await (const event of model.stream({ messages, tools: [], signal })) {
    if (event.type === 'text-delta') text += event.text;
  }
  return text;
}

export function checkAdvice({ advice, jacket }: Partial<Advice>): void {
  if (!jacket || advice?.startsWith('Take') !== true) throw new Error(`the advice is \`${advice}\``);
}
