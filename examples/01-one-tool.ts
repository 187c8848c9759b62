// One tool and the path of every call: strict arguments, a transaction, exactly one outcome.
import assert from 'node:assert/strict';
import { append, defineSlice, defineTool, toolError, toolOk } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';

// Session state: a list that events append to.
const orders = defineSlice({
  id: 'shop/orders',
  kind: 'list',
  schema: v.object({ article: v.string(), pieces: v.number() }),
  reducers: { 'order-placed': (_state, order) => append(order) },
});

const stock = new Map([['apple', 5]]);

const placeOrder = defineTool({
  name: 'place_order',
  description: 'Order items of an article in stock.',
  inputSchema: v.object({
    article: v.pipe(v.string(), v.minLength(1), v.description('Name of the article')),
    pieces: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
  }),
  effects: 'state',
  execute({ article, pieces }, context) {
    context.session.dispatch({ type: 'order-placed', payload: { article, pieces } });
    const left = stock.get(article) ?? 0;
    if (left < pieces) return toolError(`Only ${left} of \`${article}\` are in stock.`, { code: 'shop.sold_out' });
    return toolOk({ article, pieces }, `Ordered ${pieces} of ${article}.`);
  },
});

const session = createSession({ slices: [orders] });
const call = (input: unknown, name = 'place_order') =>
  executeToolCall({ name, arguments: input }, { tools: [placeOrder], session });

// Arguments may be the model's JSON text. `execute` receives validated arguments with defaults filled in.
const ordered = await call('{"article":"apple"}');
assert(ordered.kind === 'ok');
assert.deepEqual(ordered.value, { article: 'apple', pieces: 1 });
assert.equal(ordered.text, 'Ordered 1 of apple.\n\n{"article":"apple","pieces":1}');

// A failure rolls back the events that the call dispatched.
const soldOut = await call({ article: 'apple', pieces: 9 });
assert(soldOut.kind === 'failed');
assert.equal(soldOut.code, 'shop.sold_out');
assert.deepEqual(session.read(orders).toArray(), [{ article: 'apple', pieces: 1 }]);

// Invalid arguments never reach the tool, and the model receives the reason.
const misspelt = await call({ article: 'apple', amount: 2 });
assert(misspelt.kind === 'invalid');
assert.match(misspelt.text, /amount/);

const unknown = await call({ article: 'apple' }, 'place_ordr');
assert(unknown.kind === 'unknown-tool');
assert.match(unknown.text, /place_order/);

console.log('one ok, one failed, one invalid, one unknown: every call ended in exactly one outcome');
