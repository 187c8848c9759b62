// A program saved by DSPy: refused if a tool is missing, imported, run, and written so that DSPy can load it again.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineTool } from '@holdfast/core';
import { exportDspy, importDspy } from '@holdfast/dspy';
import { defineSignature, toPredictor } from '@holdfast/modules';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';

const state = readFileSync(join(import.meta.dirname, 'dspy', 'museum.json'), 'utf8');

const museum = defineSignature({
  name: 'museum.desk',
  inputSchema: v.object({ question: v.string() }),
  outputSchema: v.object({ answer: v.string() }),
});

const openingHours = defineTool({
  name: 'opening_hours',
  description: 'When the museum is open on a day of the week.',
  effects: 'none',
  inputSchema: v.object({ day: v.string() }),
  execute: ({ day }) => (day === 'monday' ? 'closed' : 'from 10 to 17'),
});
const ticketPrice = defineTool({
  name: 'ticket_price',
  description: 'What a ticket costs.',
  effects: 'none',
  inputSchema: v.object({ visitor: v.picklist(['adult', 'child']) }),
  execute: ({ visitor }) => (visitor === 'child' ? '0 euros' : '9 euros'),
});

// Its instruction mentions two tools. With only one, calls of the other would fail.
const refused = await importDspy(state, { signature: museum, tools: [openingHours] });
assert(refused.type === 'refused');
for (const { path, message } of refused.problems) console.log(`refused: ${path}: ${message}`);
assert.match(refused.problems.map(({ message }) => message).join(), /ticket_price/);

const tools = [openingHours, ticketPrice];
const imported = await importDspy(state, { signature: museum, tools });
assert(imported.type === 'imported');
const [module] = imported.modules;
assert(module !== undefined && module.predictor_type === 'react');

// The prompt has the form that the program was tuned for: fields with headers, demos first, calls in the text.
const step = (thought: string, name: string, args: object) => ({
  text: `[[ ## next_thought ## ]]\n${thought}\n\n[[ ## next_tool_name ## ]]\n${name}\n\n[[ ## next_tool_args ## ]]\n${JSON.stringify(args)}\n\n[[ ## completed ## ]]`,
});
const model = scriptedModel([
  step('A child asks, on a Sunday.', 'ticket_price', { visitor: 'child' }),
  step('Now the hours.', 'opening_hours', { day: 'sunday' }),
  step('That is all.', 'finish', {}),
  {
    text: '[[ ## reasoning ## ]]\nChildren pay nothing.\n\n[[ ## answer ## ]]\nOn Sundays we open at 10, and you pay nothing!\n\n[[ ## completed ## ]]',
  },
]);
const predictor = toPredictor(module, { signatures: [museum], model, tools });
const { output } = await predictor.invoke({ question: 'I am eight. What is it on Sunday, and when?' });
console.log(output);
assert.deepEqual(output, { answer: 'On Sundays we open at 10, and you pay nothing!' });
assert.match(model.requests[0]?.messages[0]?.text ?? '', /harbour museum[\s\S]*ticket_price/);
assert.match(JSON.stringify(model.requests[3]?.messages), /from 10 to 17/);

// The export to DSPy equals the import.
const written = exportDspy(imported.modules, { signatures: [museum] });
const again = await importDspy(written, { signature: museum, tools });
assert.deepEqual(again.type === 'imported' && again.modules.map(({ demos }) => demos), [module.demos]);
assert.deepEqual(JSON.parse(written).react.signature, JSON.parse(state).react.signature);
console.log('a saved DSPy program ran with our tools, and was exported unchanged');
