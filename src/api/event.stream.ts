/** Reads `text/event-stream`. Pure; fed with text as it arrives, in whatever pieces. */

export interface Frame {
  /** `message` for an unnamed one. */
  readonly event: string;
  readonly data: string;
  /** The last id seen so far, also of an earlier frame. */
  readonly id: string | undefined;
}

/** Returns a function that takes the next piece of text and gives the frames it completed. */
export function frameReader(): (text: string) => Frame[] {
  let rest = '';
  let id: string | undefined;
  let event = '';
  let data: string[] = [];

  const take = (line: string): Frame | null => {
    if (line === '') {
      const frame = data.length === 0 ? null : { event: event === '' ? 'message' : event, data: data.join('\n'), id };
      event = '';
      data = [];
      return frame;
    }
    const [field, value] = split(line);
    if (field === 'id') id = value;
    else if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    return null;
  };

  return (text) => {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    return lines.map(take).filter((frame) => frame !== null);
  };
}

/** A comment has an empty field name. */
function split(line: string): [field: string, value: string] {
  const colon = line.indexOf(':');
  if (colon < 0) return [line, ''];
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
}
