import { defineSlice, defineTool, replace, type Slice, type Tool, toolError } from '@holdfast/core';
import { defineSignature, type Signature } from '@holdfast/modules';
import * as v from 'valibot';

/** The signature of the merchant's module file. */
export const merchant: Signature<
  { readonly query: string },
  { readonly response: string; readonly price?: number | undefined }
> = defineSignature({
  name: 'npc.merchant',
  inputSchema: v.object({ query: v.pipe(v.string(), v.description('What the player says')) }),
  outputSchema: v.object({
    response: v.pipe(v.string(), v.description('What the merchant says, in at most two sentences')),
    price: v.optional(
      v.pipe(v.number(), v.integer(), v.description('Gold that both have agreed on, only once they have')),
    ),
  }),
});

export const purse: Slice<number> = defineSlice<number>({
  id: 'npc/purse',
  kind: 'value',
  schema: v.number(),
  initial: 12,
  reducers: { paid: (_gold, left) => replace(left) },
});

const shelves = [
  { item: 'rope', lowestPrice: 7 },
  { item: 'lantern', lowestPrice: 14 },
];

export const shopTools: readonly Tool[] = [
  defineTool({
    name: 'get_player_gold',
    description: 'How much gold the player has.',
    effects: 'none',
    execute: (_input, { session }) => ({ gold: session.read(purse) }),
  }),
  defineTool({
    name: 'check_inventory',
    description: 'What is on the shelves, and the lowest price of each item.',
    effects: 'none',
    execute: () => shelves,
  }),
  defineTool({
    name: 'sell_item',
    description: 'Sell an item to the player, who pays at once.',
    effects: 'state',
    inputSchema: v.object({
      item: v.picklist(shelves.map(({ item }) => item)),
      price: v.pipe(v.number(), v.integer(), v.minValue(1)),
    }),
    execute({ item, price }, { session }) {
      const left = session.read(purse) - price;
      session.dispatch({ type: 'paid', payload: left });
      // This rolls back the payment.
      return left < 0 ? toolError('The player does not have enough gold.') : { item, price };
    },
  }),
];
