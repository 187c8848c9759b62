// A Strands agent gets policies, approvals and a log by one line. Its tools stay as they are; a question is an interrupt.
import assert from 'node:assert/strict';
import { holdfastIntervention } from '@holdfast/guard/strands';
import { Agent, Model, type ModelStreamEvent, tool } from '@strands-agents/sdk';
import { z } from 'zod';
import { openDesk } from './desk.ts';

const { guard, refunds, lookUp, refund, nextCall } = openDesk();

const inputSchema = z.object({ order: z.number() });
const tools = [
  tool({ name: 'look_up', description: 'Look an order up.', inputSchema, callback: lookUp }),
  tool({ name: 'refund', description: 'Refund an order.', inputSchema, callback: refund }),
];

// Stands for a model.
class ScriptedModel extends Model {
  updateConfig(): void {}

  getConfig(): { readonly modelId: string } {
    return { modelId: 'scripted' };
  }

  async *stream(): AsyncGenerator<ModelStreamEvent> {
    const call = nextCall();
    yield { type: 'modelMessageStartEvent', role: 'assistant' };
    if (call === undefined) {
      yield { type: 'modelContentBlockStartEvent' };
      yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'textDelta', text: 'Done.' } };
    } else {
      const start = { type: 'toolUseStart', name: call.name, toolUseId: call.id } as const;
      yield { type: 'modelContentBlockStartEvent', start };
      yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'toolUseInputDelta', input: '{"order":17}' } };
    }
    yield { type: 'modelContentBlockStopEvent' };
    yield { type: 'modelMessageStopEvent', stopReason: call === undefined ? 'endTurn' : 'toolUse' };
  }
}

const open = () =>
  new Agent({
    model: new ScriptedModel(),
    tools,
    // The line.
    interventions: [holdfastIntervention(guard)],
    printer: false,
  });
const agent = open();
const { interrupts = [] } = await agent.invoke('Refund order 17.');
assert.match(JSON.stringify(agent.messages), /needs `look_up` to succeed first/);
assert.equal(interrupts.length, 1);
assert.deepEqual(refunds, []);
console.log('refund before look_up: denied; after it: a person is asked');

const stored = agent.takeSnapshot({ preset: 'session' });
// The answer arrives twice, as from a second click.
for (let count = 0; count < 2; count += 1) {
  const resumed = open();
  resumed.loadSnapshot(stored);
  await resumed.invoke(
    interrupts.map(({ id }) => ({ interruptResponse: { interruptId: id, response: true } })) as never,
  );
}
assert.deepEqual(refunds, [17]);
console.log('approved twice, refunded once');
