import type { JsonObject, ToolDeclaration } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';

/** Formats a tool as in the training data: `get_weather(city:string,days?:integer,parts:string[]) Looks up the weather`. */
export function toSignature({ name, description, inputSchema }: ToolDeclaration): string {
  const required = requiredOf(inputSchema);
  const parameters = Object.entries(propertiesOf(inputSchema)).map(
    ([parameter, schema]) => `${parameter}${required.has(parameter) ? '' : '?'}:${toType(schema)}`,
  );
  // A line break or a semicolon would look like the next tool.
  return `${name}(${parameters.join(',')}) ${toLowerStart(firstSentence(description.replaceAll(/[\s;]+/g, ' ')))}`;
}

/** Descriptions start in lower case in the training data; `PDF` and `I` stay as they are. */
function toLowerStart(text: string): string {
  return text.replace(/^\p{Lu}(?=\p{Ll})/u, (letter) => letter.toLowerCase());
}

/** Without its full stop. The training data has one sentence per tool and per error. */
export function firstSentence(text: string): string {
  return text
    .trim()
    .replace(/[.!?]\s+\p{Lu}[\s\S]*$/u, '')
    .replace(/\.$/, '');
}

function toType(schema: unknown): string {
  if (!isPlainObject(schema)) return 'string';
  const words = schema['enum'];
  if (Array.isArray(words)) return words.map(toWord).join('|');
  if (Object.hasOwn(schema, 'const')) return toWord(schema['const']);
  const declared = schema['type'];
  const type: unknown = Array.isArray(declared) ? declared.find((one) => one !== 'null') : declared;
  if (type === 'array') return `${toType(schema['items'])}[]`;
  return type === 'integer' || type === 'number' || type === 'boolean' || type === 'object' ? type : 'string';
}

function toWord(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function requiredOf(schema: JsonObject): ReadonlySet<unknown> {
  const required = schema['required'];
  return new Set(Array.isArray(required) ? required : []);
}

function propertiesOf(schema: JsonObject): Readonly<Record<string, unknown>> {
  const properties = schema['properties'];
  return isPlainObject(properties) ? properties : {};
}
