import { holdfastIntervention, toStrandsTools } from '@holdfast/guard/strands';
import { Agent, type JSONValue, type Message, Model, type ModelStreamEvent, tool } from '@strands-agents/sdk';
import type { Driver, Given, Ran } from '../driver.ts';

class ScriptedModel extends Model {
  readonly #model: Given['model'];
  #index = 0;

  constructor(model: Given['model']) {
    super();
    this.#model = model;
  }

  updateConfig(): void {}

  getConfig(): { readonly modelId: string } {
    return { modelId: 'scripted' };
  }

  async *stream(): AsyncGenerator<ModelStreamEvent> {
    const turn = await this.#model(this.#index);
    this.#index += 1;
    yield { type: 'modelMessageStartEvent', role: 'assistant' };
    for (const part of typeof turn === 'string' ? [turn] : turn) {
      if (typeof part === 'string') {
        yield { type: 'modelContentBlockStartEvent' };
        yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'textDelta', text: part } };
      } else {
        yield {
          type: 'modelContentBlockStartEvent',
          start: { type: 'toolUseStart', name: part.name, toolUseId: part.id },
        };
        yield {
          type: 'modelContentBlockDeltaEvent',
          delta: {
            type: 'toolUseInputDelta',
            input: typeof part.input === 'string' ? part.input : JSON.stringify(part.input),
          },
        };
      }
      yield { type: 'modelContentBlockStopEvent' };
    }
    yield { type: 'modelMessageStopEvent', stopReason: typeof turn === 'string' ? 'endTurn' : 'toolUse' };
  }
}

export const driver: Driver = {
  name: 'Strands',
  decides: ['a call whose arguments are not JSON does not run, and the run goes on'],
  waitsForBodies: true,
  run: (given) => proceed(given, new ScriptedModel(given.model)),
  handOff: { name: 'helper', input: { input: 'Go.' } },
  async runTeam({ guard, tools, model, helper: { model: script, options } }) {
    const helper = new Agent({
      ...{ name: 'helper', description: 'Helps.', printer: false },
      model: new ScriptedModel(script),
      tools: toTools(tools),
      interventions: [holdfastIntervention(guard, options)],
    });
    const desk = new Agent({
      model: new ScriptedModel(model),
      tools: [...toTools(tools), helper.asTool()],
      interventions: [holdfastIntervention(guard)],
      printer: false,
    });
    await desk.invoke('Go.');
  },
};

function toTools(bodies: Given['tools']) {
  return Object.entries(bodies).map(([name, body]) =>
    tool({
      name,
      description: name,
      inputSchema: { type: 'object' },
      callback: async (input: unknown, context) => (await body(input as never, context?.cancelSignal)) as JSONValue,
    }),
  );
}

interface Resume {
  readonly snapshot: string;
  readonly responses: readonly {
    readonly interruptResponse: { readonly interruptId: string; readonly response: JSONValue };
  }[];
}

async function proceed(given: Given, model: ScriptedModel, resume?: Resume): Promise<Ran> {
  const { own } = given;
  const agent = new Agent({
    model,
    ...(own === undefined
      ? { tools: toTools(given.tools), interventions: [holdfastIntervention(given.guard, given.options)] }
      : { tools: toStrandsTools(own.tools, { ...own.options, tool }) }),
    printer: false,
  });
  if (resume !== undefined) agent.loadSnapshot(JSON.parse(resume.snapshot));
  const input = resume === undefined ? 'Go.' : [...resume.responses];
  const options = given.signal === undefined ? {} : { cancelSignal: given.signal };
  let result: Awaited<ReturnType<Agent['invoke']>>;
  if (given.streams === true) {
    const stream = agent.stream(input as never, options);
    let next = await stream.next();
    while (next.done !== true) next = await stream.next();
    result = next.value;
  } else result = await agent.invoke(input as never, options);
  const { interrupts = [] } = result;
  if (interrupts.length === 0) return { type: 'done', read: readResults(agent.messages) };
  const snapshot = JSON.stringify(agent.takeSnapshot({ preset: 'session' }));
  const idOf = (name: string): string => name.replace('holdfast:', '');
  return {
    type: 'asked',
    ids: interrupts.map(({ name }) => idOf(name)),
    answer: (answers, again) =>
      proceed({ ...given, ...again }, model, {
        snapshot,
        responses: interrupts.map(({ id, name }) => ({
          interruptResponse: { interruptId: id, response: answers[idOf(name)] === true },
        })),
      }),
  };
}

function readResults(messages: readonly Message[]): Readonly<Record<string, string>> {
  const blocks = messages.flatMap(({ content }) => content);
  return Object.fromEntries(
    blocks.flatMap((block) =>
      block.type === 'toolResultBlock'
        ? [
            [
              block.toolUseId,
              block.content
                .map((part) => ('text' in part ? part.text : 'json' in part ? JSON.stringify(part.json) : ''))
                .join(''),
            ],
          ]
        : [],
    ),
  );
}
