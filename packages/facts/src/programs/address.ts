export interface Address {
  readonly scheme: string;
  readonly host: string;
  readonly port?: number;
}

/** Of `https://host:1/x`, `me@host:x` and `host:1`; `undefined` for any other text. */
export function readAddress(text: string): Address | undefined {
  const whole = /^([a-z][a-z\d+.-]*):\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d{1,5}))?/i.exec(text);
  if (whole !== null) return toAddress(whole[1] ?? '', whole[2] ?? '', whole[3]);
  const short = /^(?:[^/@:\s]+@)?([^/@:\s]+):(?!\/\/)/.exec(text);
  return short === null ? undefined : toAddress('ssh', short[1] ?? '', undefined);
}

function toAddress(scheme: string, host: string, port: string | undefined): Address {
  return {
    scheme: scheme.toLowerCase(),
    host: host.toLowerCase(),
    ...(port === undefined ? {} : { port: Number(port) }),
  };
}
