import type { JsonObject, Message } from '@holdfast/core';
import type { Demo, Program } from './program.ts';
import { submitName } from './react-submit.ts';
import { createWriter, renderField } from './render-program.ts';

/**
 * What a model that is offered tools is asked with: the same bytes for the same input. Demos that have every output are shown as submits;
 * others cannot be, as an incomplete submit is refused.
 */
export function renderNative(program: Program, input: JsonObject): readonly Message[] {
  const write = createWriter(program);
  const needed = program.outputs.filter(({ required }) => required);
  const outputs = (needed.length === 0 ? program.outputs : needed).map(({ name }) => `\`${name}\``).join(', ');
  const given = program.inputs.length === 0 ? [] : [['You are given:', ...program.inputs.map(renderField)].join('\n')];
  const manner = [
    `You work as an agent: call tools to find out or do what is needed, several in one message if you like. When you know ${outputs}, call \`${submitName}\` with them.`,
    `A message without a call is no answer, and a call of \`${submitName}\` that is taken ends the task.`,
  ].join(' ');
  return Object.freeze([
    { role: 'system', text: [...given, manner, `What you have to do:\n${program.instruction}`].join('\n\n') },
    ...program.demos.filter((demo) => isComplete(demo, program)).flatMap((demo, index) => renderDemo(demo, index)),
    { role: 'user', text: ask(input) },
  ]);

  function ask(values: JsonObject, absent?: string): string {
    const written = write(program.inputs, values, absent);
    return written.length === 0 ? 'Begin.' : written.join('\n\n');
  }

  function renderDemo({ inputs, outputs: given }: Demo, index: number): readonly Message[] {
    const callId = `demo_${index}`;
    const known = program.outputs.filter(({ name }) => Object.hasOwn(given, name));
    const submitted = Object.fromEntries(known.map(({ name }) => [name, given[name] ?? null]));
    return [
      { role: 'user', text: ask(inputs, '(not given in this example)') },
      { role: 'assistant', text: '', calls: [{ id: callId, name: submitName, arguments: submitted }] },
      { role: 'tool', callId, name: submitName, success: true, text: 'Submitted.' },
    ];
  }
}

function isComplete({ inputs, outputs }: Demo, program: Program): boolean {
  const hasInput = program.inputs.length === 0 || program.inputs.some(({ name }) => Object.hasOwn(inputs, name));
  return hasInput && program.outputs.every(({ name, required }) => !required || Object.hasOwn(outputs, name));
}
