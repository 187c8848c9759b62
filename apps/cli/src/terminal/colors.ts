import pico from 'picocolors';

/** Formats text for a terminal, or leaves it unchanged. */
export type Colors = ReturnType<typeof pico.createColors>;

export function createColors(enabled: boolean): Colors {
  return pico.createColors(enabled);
}
