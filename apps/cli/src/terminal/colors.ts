import pico from 'picocolors';

/** Paints text for a terminal, or leaves it as it is. */
export type Colors = ReturnType<typeof pico.createColors>;

export function createColors(enabled: boolean): Colors {
  return pico.createColors(enabled);
}
