import type { Json, JsonObject, Schema } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';

/** What a predictor of a test answers: JSON, what it throws, or what a function makes of the input. */
export type Answer = JsonObject | Error | ((input: JsonObject) => JsonObject | Promise<JsonObject>);

/** A predictor as a function, that gives its answers one after another and keeps what it was asked with. */
export interface Playing {
  (input: JsonObject): Promise<JsonObject>;
  readonly inputs: readonly JsonObject[];
}

export function playing(...answers: readonly Answer[]): Playing {
  const inputs: JsonObject[] = [];
  const predict = async (input: JsonObject): Promise<JsonObject> => {
    inputs.push(input);
    const answer = answers[inputs.length - 1];
    if (answer === undefined) throw new Error(`Asked ${inputs.length} times, ${answers.length} answers.`);
    if (answer instanceof Error) throw answer;
    return typeof answer === 'function' ? await answer(input) : answer;
  };
  return Object.assign(predict, { inputs });
}

/** The schema of an object that has to have these properties. */
export function object<Output = Record<string, Json>>(properties: Record<string, JsonObject>): Schema<Output> {
  return jsonSchema<Output>({ type: 'object', properties, required: Object.keys(properties) });
}
