import type { JsonObject, ToolDeclaration } from '@holdfast/core';
import {
  type Field,
  type Fields,
  fail,
  invalid,
  isAbsent,
  readFields,
  readList,
  readString,
  unsupported,
} from './serve-fields.ts';

/** What a model is offered, and what it has to do with it. */
export interface OfferedTools {
  readonly tools: readonly ToolDeclaration[];
  /** Whether a message without a call is none. */
  readonly mustCall: boolean;
}

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;
const noParameters: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

/** @throws HoldfastError `serve.request_invalid`, `serve.parameter_unsupported`. */
export function readTools(body: Fields): OfferedTools {
  const given = body('tools');
  const choice = body('tool_choice');
  const names = new Set<string>();
  const tools = isAbsent(given) ? [] : readList(given, (item) => readTool(item, names));
  if (isAbsent(choice) || choice.value === 'auto') return { tools, mustCall: false };
  if (choice.value === 'none') return { tools: [], mustCall: false };
  if (choice.value !== 'required') return { tools: [readChosen(choice, tools)], mustCall: true };
  if (tools.length === 0) throw invalid(choice.path, '`tool_choice` is `required`, and `tools` has none.');
  return { tools, mustCall: true };
}

function readTool(item: Field, names: Set<string>): ToolDeclaration {
  const tool = readFields(item);
  const type = tool('type');
  if (type.value !== 'function') {
    throw unsupported(type.path, `\`${type.path}\` must be \`function\`: other tools are not offered here.`);
  }
  const declared = readFields(tool('function'));
  const { path } = declared('name');
  const name = readString(declared('name'));
  if (!toolName.test(name) || Object.hasOwn(Object.prototype, name)) {
    throw invalid(path, `\`${path}\` must be 1 to 64 of a-z, A-Z, 0-9, _ and -, and no name that every object has.`);
  }
  if (names.has(name)) throw invalid(path, `\`tools\` has two functions \`${name}\`.`);
  names.add(name);
  const description = declared('description');
  const parameters = declared('parameters');
  return {
    name,
    description: isAbsent(description) ? '' : readString(description),
    inputSchema: isAbsent(parameters) ? noParameters : readObjectSchema(parameters),
  };
}

/** A JSON Schema of an object: without `type`, it is taken for one. */
export function readObjectSchema(field: Field): JsonObject {
  const type = readFields(field)('type');
  if (!isAbsent(type) && type.value !== 'object') {
    throw invalid(type.path, `\`${field.path}\` must be a JSON Schema with \`"type": "object"\`.`);
  }
  // Came from JSON, and is an object.
  return { ...(field.value as JsonObject), type: 'object' };
}

function readChosen(choice: Field, tools: readonly ToolDeclaration[]): ToolDeclaration {
  if (typeof choice.value === 'string') fail(choice, '`auto`, `none`, `required` or a function by its name');
  const chosen = readFields(choice);
  const type = chosen('type');
  if (type.value !== 'function') {
    throw unsupported(type.path, `\`${type.path}\` must be \`function\`: nothing else can be chosen here.`);
  }
  const named = readFields(chosen('function'))('name');
  const name = readString(named);
  const tool = tools.find((offered) => offered.name === name);
  if (tool === undefined) throw invalid(named.path, '`tool_choice` names a function that `tools` has not.');
  return tool;
}
