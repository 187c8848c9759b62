import type { ScriptedTurn, ScriptStep } from '@holdfast/testing';

/** Plausible replies of a model that plays the merchant, too eager at first. */
export const haggling: readonly ScriptStep[] = [
  call({ name: 'sell_item', args: { item: 'rope', price: 8 } }),
  call([{ name: 'get_player_gold' }, { name: 'check_inventory' }]),
  call({ name: 'sell_item', args: { item: 'rope', price: 8 } }),
  answer('Eight it is, before I change my mind.', 8),
  call({ name: 'sell_item', args: { item: 'lantern', price: 14 } }),
  answer('Come back when your purse is heavier, my friend.'),
  ({ messages }) => answer(messages[0]?.text.includes('foul mood') ? 'What.' : 'Good day to you!'),
];

function call(calls: unknown): ScriptedTurn {
  return { text: `[[ ## tool_call ## ]]\n${JSON.stringify(calls)}\n\n[[ ## completed ## ]]` };
}

function answer(response: string, price?: number): ScriptedTurn {
  const agreed = price === undefined ? '' : `[[ ## price ## ]]\n${price}\n\n`;
  return { text: `[[ ## response ## ]]\n${response}\n\n${agreed}[[ ## completed ## ]]` };
}
