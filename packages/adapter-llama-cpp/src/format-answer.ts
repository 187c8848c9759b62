import { type FinishReason, HoldfastError, type ModelRequest } from '@holdfast/core';
import type { ConversationFormat, PromptPart } from '@holdfast/core/types';
import type { LlamaContextSequence, LlamaGrammar, LlamaModel, Token } from 'node-llama-cpp';
import { type Answer, type Answering, checkLength, roomFor } from './answering.ts';
import { TokenText } from './token-text.ts';

/** Answers in the model's own format: a call or a text, decided by the model's first token. */
export function answerInFormat(format: ConversationFormat, answering: Answering): Answer {
  const { model, sequences } = answering;
  const call = specialToken(model, format.call);
  const say = specialToken(model, format.say);

  return async (request, push, stopped) => {
    const parts = format.toPrompt(request.messages, request.tools);
    checkLength(
      parts.filter((part) => typeof part === 'string'),
      answering,
    );
    const prompt = toTokens(model, parts);
    const room = roomFor(prompt, answering, request);
    await sequences.use(prompt, stopped, async (sequence) => {
      const writer = new Writer(sequence, answering, stopped);
      const last = await writer.read(prompt);
      if (last === undefined) return;
      const written = { text: '', isCall: false };
      const text = new TokenText(model);
      const add = (piece: string): void => {
        // Tokenizers prepend a space to a text without one.
        const part = written.text === '' ? piece.trimStart() : piece;
        written.text += part;
        if (part !== '' && !written.isCall) push({ type: 'text-delta', text: part });
      };
      const begins = await begin(writer, request, {
        last,
        call,
        say,
        callShare: format.callShare ?? 0.5,
        constrain: answering.constrain,
      });
      if (stopped.aborted) return;
      written.isCall = begins === call;
      const grammar = await grammarOf(request, written.isCall, { format, answering });
      const opening = begins === undefined ? [last] : [last, begins];
      let reason: FinishReason = 'length';
      let count = begins === undefined ? 0 : 1;
      if (count < room) {
        for await (const token of writer.write(opening, grammar)) {
          if (stopped.aborted) return;
          count += 1;
          const isFirst = count === 1;
          if (isFirst && token === call) written.isCall = true;
          else if (model.isEogToken(token)) reason = 'stop';
          else if (!(isFirst && token === say)) add(text.add(token));
          if (reason === 'stop' || count >= room) break;
        }
      }
      add(text.end());
      if (written.isCall) reason = finishCall(written.text, reason);
      push({ type: 'finish', reason, usage: { inputTokens: prompt.length, outputTokens: count } });
    });

    function finishCall(written: string, reason: FinishReason): FinishReason {
      // An incomplete call is dropped.
      if (reason === 'length') return reason;
      const read = format.readCall(written);
      if (read === undefined) {
        push({ type: 'text-delta', text: written });
        return reason;
      }
      push({ type: 'tool-call', ...read });
      return 'tool-calls';
    }
  };
}

function grammarOf(
  { messages, tools, output }: ModelRequest,
  isCall: boolean,
  { format, answering }: { readonly format: ConversationFormat; readonly answering: Answering },
): Promise<LlamaGrammar> | undefined {
  const { constrain, grammars } = answering;
  if (!constrain) return undefined;
  if (isCall) {
    const schemas = tools.map((tool) => format.toCallSchema(tool));
    return grammars.of(schemas, { tools: tools.map(({ name }) => name), quoted: format.quotedTexts?.(messages) });
  }
  return output === undefined ? undefined : grammars.of([output]);
}

interface Beginning {
  /** The last token of the prompt. */
  readonly last: Token;
  readonly call: Token;
  readonly say: Token;
  readonly callShare: number;
  readonly constrain: boolean;
}

/** Starts the message; `undefined` if the model may start it with any token. */
async function begin(
  writer: Writer,
  { tools, output }: ModelRequest,
  { last, call, say, callShare, constrain }: Beginning,
): Promise<Token | undefined> {
  if (tools.length === 0) return constrain || output !== undefined ? say : undefined;
  if (!constrain) return undefined;
  const [forCall, forText] = await writer.weigh(last, [call, say]);
  return forCall >= callShare * (forCall + forText) ? call : say;
}

/** Reads and writes tokens in one sequence. */
class Writer {
  readonly #sequence: LlamaContextSequence;
  readonly #answering: Answering;
  readonly #stopped: AbortSignal;

  constructor(sequence: LlamaContextSequence, answering: Answering, stopped: AbortSignal) {
    this.#sequence = sequence;
    this.#answering = answering;
    this.#stopped = stopped;
  }

  /** Evaluates a prompt except for its last token, which it returns. `undefined` if stopped between two batches. */
  async read(prompt: readonly Token[]): Promise<Token | undefined> {
    const sequence = this.#sequence;
    await sequence.adaptStateToTokens(prompt.slice(0, -1), false);
    while (sequence.nextTokenIndex < prompt.length - 1) {
      if (this.#stopped.aborted) return undefined;
      const from = sequence.nextTokenIndex;
      const batch = prompt.slice(from, Math.min(from + this.#answering.batchSize, prompt.length - 1));
      await sequence.evaluateWithoutGeneratingNewTokens(batch);
    }
    return this.#stopped.aborted ? undefined : prompt.at(-1);
  }

  /** The probabilities of two tokens after `last`, without adding it to the sequence. */
  async weigh(last: Token, [one, other]: readonly [Token, Token]): Promise<readonly [number, number]> {
    const index = this.#sequence.nextTokenIndex;
    const [output] = await this.#sequence.controlledEvaluate([[last, { generateNext: { probabilities: true } }]]);
    await this.#sequence.eraseContextTokenRanges([{ start: index, end: index + 1 }]);
    const probabilities = output?.next.probabilities;
    return [probabilities?.get(one) ?? 0, probabilities?.get(other) ?? 0];
  }

  async *write(tokens: readonly Token[], grammar: LlamaGrammar | undefined): AsyncGenerator<Token, void, void> {
    const { binding, model, sampling } = this.#answering;
    const state = grammar === undefined ? undefined : new binding.LlamaGrammarEvaluationState({ model, grammar });
    yield* this.#sequence.evaluate([...tokens], {
      ...sampling,
      ...(state === undefined ? {} : { grammarEvaluationState: state }),
      yieldEogToken: true,
    });
  }
}

function toTokens(model: LlamaModel, parts: readonly PromptPart[]): Token[] {
  return parts.flatMap((part) =>
    typeof part === 'string' ? (part === '' ? [] : model.tokenize(part, false)) : [specialToken(model, part.special)],
  );
}

function specialToken(model: LlamaModel, name: string): Token {
  const [token, ...more] = model.tokenize(name, true);
  if (token !== undefined && more.length === 0) return token;
  throw new HoldfastError(
    'options.invalid',
    `\`${name}\` of \`format\` is not a token of this model. Pass the format that the model was trained on.`,
  );
}
