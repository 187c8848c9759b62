import { governTool, toOpenAiTools } from '@holdfast/guard/openai-agents';
import { Agent, type Model, type ModelResponse, Runner, RunState, type StreamEvent, tool, Usage } from '@openai/agents';
import type { Driver, Given, Ran } from '../driver.ts';

class ScriptedModel implements Model {
  readonly #model: Given['model'];
  #index = 0;

  constructor(model: Given['model']) {
    this.#model = model;
  }

  async getResponse(): Promise<ModelResponse> {
    const turn = await this.#model(this.#index);
    this.#index += 1;
    const output: ModelResponse['output'] =
      typeof turn === 'string'
        ? [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: turn }] }]
        : turn.map(({ id, name, input }) => ({
            ...{ type: 'function_call', callId: id, name, status: 'completed' },
            arguments: typeof input === 'string' ? input : JSON.stringify(input),
          }));
    return { usage: new Usage(), output };
  }

  async *getStreamedResponse(): AsyncGenerator<StreamEvent> {
    const { output } = await this.getResponse();
    yield { type: 'response_started' };
    const usage = { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    yield { type: 'response_done', response: { id: `answer-${this.#index}`, usage, output: output as never } };
  }
}

export const driver: Driver = {
  name: 'OpenAI Agents',
  decides: ['a call whose arguments are not JSON does not run, and the run goes on'],
  hasDeadlines: true,
  // The SDK keeps the message to itself.
  errorText: 'An error occurred while running the tool.',
  run: (given) => proceed(given, new ScriptedModel(given.model)),
  handOff: { name: 'transfer_to_helper', input: {} },
  async runTeam({ guard, tools, model, helper: { model: script, options } }) {
    const helper = new Agent({
      name: 'helper',
      model: new ScriptedModel(script),
      tools: toTools({ guard, tools, ...(options === undefined ? {} : { options }) }),
    });
    const desk = new Agent({
      name: 'desk',
      model: new ScriptedModel(model),
      tools: toTools({ guard, tools }),
      handoffs: [helper],
    });
    await new Runner({ tracingDisabled: true }).run(desk, 'Go.');
  },
};

function toTools(given: Pick<Given, 'guard' | 'tools' | 'options' | 'own' | 'deadlineMs'>): ReturnType<typeof tool>[] {
  if (given.own !== undefined) return toOpenAiTools(given.own.tools, { ...given.own.options, tool });
  const make = governTool(given.guard, tool, given.options);
  return Object.entries(given.tools).map(([name, body]) =>
    make({
      name,
      description: name,
      parameters: anyInput,
      strict: false,
      ...(given.deadlineMs === undefined ? {} : { timeoutMs: given.deadlineMs }),
      execute: async (input, _context, details) => await body(input as never, details?.signal),
    }),
  );
}

const anyInput = { type: 'object' as const, properties: {}, required: [], additionalProperties: true as const };

async function proceed(
  given: Given,
  model: Model,
  resume?: (agent: Agent) => Promise<RunState<undefined, Agent>>,
): Promise<Ran> {
  const tools = toTools(given);
  const agent = new Agent({ name: 'desk', model, tools });
  const runner = new Runner({ tracingDisabled: true });
  const input = resume === undefined ? 'Go.' : await resume(agent);
  const options = {
    toolNotFoundBehavior: 'return_error_to_model' as const,
    ...(given.signal === undefined ? {} : { signal: given.signal }),
  };
  const result =
    given.streams === true
      ? await runner.run(agent, input, { stream: true, ...options })
      : await runner.run(agent, input, options);
  if ('completed' in result) await result.completed;
  const ids = result.interruptions.map(({ rawItem }) => ('callId' in rawItem ? rawItem.callId : ''));
  if (ids.length === 0) {
    const results = result.history.flatMap((item) => (item.type === 'function_call_result' ? [item] : []));
    return { type: 'done', read: Object.fromEntries(results.map((item) => [item.callId, plain(item.output)])) };
  }
  const written = result.state.toString();
  return {
    type: 'asked',
    ids,
    answer: (answers, again) =>
      proceed({ ...given, ...again }, model, async (other) => {
        const state = await RunState.fromString<undefined, Agent>(other, written);
        for (const question of state.getInterruptions()) {
          const { rawItem } = question;
          if ('callId' in rawItem && answers[rawItem.callId] === true) state.approve(question);
          else state.reject(question);
        }
        return state;
      }),
  };
}

function plain(output: unknown): string {
  if (typeof output === 'string') return output;
  return typeof output === 'object' && output !== null && 'text' in output
    ? String(output.text)
    : JSON.stringify(output);
}
