import * as v from 'valibot';

/** The work behind the design's goals: the same tool, arguments and answer for every subject. */
export const toolName = 'lookup_entity';
export const toolDescription = 'Fetch structured information for a given entity id.';

export interface Input {
  readonly entity_id: string;
  readonly include_related: boolean;
  readonly limit: number;
  readonly tags: readonly string[];
  readonly filter: { readonly field: string; readonly op: 'eq' | 'ne' | 'gt'; readonly value: string };
}

export const inputSchema: v.GenericSchema<unknown, Input> = v.strictObject({
  entity_id: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
  include_related: v.boolean(),
  limit: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)),
  tags: v.pipe(v.array(v.pipe(v.string(), v.maxLength(32))), v.maxLength(10)),
  filter: v.strictObject({ field: v.string(), op: v.picklist(['eq', 'ne', 'gt']), value: v.string() }),
});

export const argumentsText: string = JSON.stringify({
  entity_id: 'ent_0042',
  include_related: true,
  limit: 25,
  tags: ['alpha', 'beta', 'gamma'],
  filter: { field: 'status', op: 'eq', value: 'open' },
} satisfies Input);

/** Counts calls, so that a subject that skips work fails. */
export const counted: { calls: number } = { calls: 0 };

export type Entity = { readonly entity_id: string; readonly url: string; readonly hits: number };

export async function lookUp({ entity_id, tags }: Input): Promise<Entity> {
  counted.calls += 1;
  return { entity_id, url: `https://example.com/${entity_id}`, hits: tags.length };
}

export async function lookUpAndFail(input: Input): Promise<Entity> {
  await lookUp(input);
  throw new Error('The directory does not answer.');
}
