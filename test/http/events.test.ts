import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { event } from '../../src/http/contract.ts';
import { openEventStream, type StreamLimits } from '../../src/http/sse.ts';
import { until } from '../support/wait.ts';
import { recorded } from './fake.keeper.ts';
import { token } from './given.app.ts';
import { ask, framesOf, type GivenServer, givenServer, textOf } from './given.server.ts';

const calm: StreamLimits = { heartbeatMs: 60_000, stallMs: 60_000, bufferBytes: 256 * 1024 };

function follow(server: GivenServer, query = '', headers: Record<string, string> = {}, method = 'GET') {
  return ask(server, {
    method,
    path: `/v1/events${query}`,
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers },
  });
}

const positions = (frames: readonly { id?: string }[]) => frames.map(({ id }) => Number(id));

describe('The feed of events', () => {
  it('is an event stream that nobody may keep', async () => {
    const answer = await follow(await givenServer());
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(answer.headers['cache-control']).toContain('no-store');
    answer.destroy();
  });

  it('begins with what comes from now on', async () => {
    const server = await givenServer();
    server.keeper.commit(recorded(1), recorded(2));
    const stream = framesOf(await follow(server));
    await until(() => server.keeper.followers === 1);
    server.keeper.commit(recorded(3, 'new'));
    const frame = await stream.next();
    expect(frame).toMatchObject({
      id: '3',
      data: { position: 3, at: '2026-03-01T12:00:00.003Z', data: { note: 'new' } },
    });
    expect(frame?.event).toBeUndefined();
    event.parse(frame?.data);
  });

  it('begins after the position that is asked for, and goes on', async () => {
    const server = await givenServer();
    server.keeper.commit(recorded(1), recorded(2), recorded(3));
    const stream = framesOf(await follow(server, '?after=1'));
    expect(positions(await stream.take(2))).toEqual([2, 3]);
    server.keeper.commit(recorded(4));
    expect(positions(await stream.take(1))).toEqual([4]);
  });

  it('resumes after the last event that was seen, whatever the address says', async () => {
    const server = await givenServer();
    server.keeper.commit(recorded(1), recorded(2), recorded(3));
    const first = await follow(server, '?after=0');
    expect(positions(await framesOf(first).take(2))).toEqual([1, 2]);
    first.destroy();
    const second = framesOf(await follow(server, '?after=0', { 'last-event-id': '2' }));
    expect(positions(await second.take(1))).toEqual([3]);
  });

  it('has only the stream and type that were asked for', async () => {
    const server = await givenServer();
    server.keeper.commit(
      recorded(1),
      { ...recorded(2), stream: 'server-other' },
      { ...recorded(3), type: 'ServerDisabled' },
    );
    const ofStream = framesOf(await follow(server, '?after=0&stream=server-other'));
    expect(positions(await ofStream.take(1))).toEqual([2]);
    const ofType = framesOf(await follow(server, '?after=0&type=ServerDisabled'));
    expect(positions(await ofType.take(1))).toEqual([3]);
  });

  it('says which part of the log is gone', async () => {
    const server = await givenServer();
    server.keeper.commit(recorded(41), recorded(42));
    server.keeper.prunedBelow = 41;
    const [gap, next] = await framesOf(await follow(server, '?after=7')).take(2);
    expect(gap).toEqual({ event: 'gap', data: { from: 8, to: 40 } });
    expect(next?.id).toBe('41');
  });

  it('keeps one event on one line, whatever is in it', async () => {
    const server = await givenServer();
    const note = 'one\ntwo\r\n\n: three\u2028ü';
    server.keeper.commit(recorded(1, note));
    const frame = await framesOf(await follow(server, '?after=0')).next();
    expect(frame?.data.data.note).toBe(note);
  });

  it('sends comments while nothing happens', async () => {
    const server = await givenServer({ streamLimits: { ...calm, heartbeatMs: 10 } });
    const stream = framesOf(await follow(server));
    const reading = stream.next();
    await until(() => stream.comments.length > 3);
    server.keeper.commit(recorded(1));
    expect(await reading).toMatchObject({ id: '1' });
  });

  it('lets go of a reader that leaves', async () => {
    const server = await givenServer();
    const answer = await follow(server);
    await until(() => server.keeper.followers === 1);
    answer.destroy();
    await until(() => server.keeper.followers === 0);
    server.keeper.commit(recorded(1));
    expect(server.errors).toEqual([]);
  });

  it.each(['x', '-1', '1.5', '99999999999999999999'])('refuses to resume after "%s"', async (id) => {
    const answer = await follow(await givenServer(), '', { 'last-event-id': id });
    expect(answer.statusCode).toBe(400);
  });

  it('has nothing but headers for HEAD', async () => {
    const answer = await follow(await givenServer(), '', {}, 'HEAD');
    expect(answer.headers['content-type']).toContain('text/event-stream');
    expect(await textOf(answer)).toBe('');
  });

  it('is a page of JSON for who does not ask for a stream', async () => {
    const server = await givenServer();
    server.keeper.commit(recorded(1), recorded(2));
    const answer = await follow(server, '?limit=1', { accept: 'application/json' });
    expect(JSON.parse(await textOf(answer))).toMatchObject({ events: [{ position: 1 }], next: 1 });
  });
});

describe('A reader that does not keep up', () => {
  const large = 'x'.repeat(64 * 1024);

  it('takes up little memory, and misses nothing once it reads again', async () => {
    const server = await givenServer({ streamLimits: { ...calm, bufferBytes: 128 * 1024 } });
    const answer = await follow(server, '?after=0');
    await until(() => server.keeper.followers === 1);
    answer.pause();
    for (let position = 1; position <= 400; position += 1) {
      server.keeper.commit(recorded(position, large));
      if (position % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    // It was let go from the feed, so what comes now is not kept for it.
    await until(() => server.keeper.followers === 0);
    const frames = await framesOf(answer).take(400);
    expect(positions(frames)).toEqual(Array.from({ length: 400 }, (_, at) => at + 1));
    await until(() => server.keeper.followers === 1);
    expect(server.keeper.asked.some(([what]) => what === 'events')).toBe(true);
  });

  it('catches up even if the log grows meanwhile', async () => {
    const server = await givenServer({ streamLimits: { ...calm, bufferBytes: 1024 } });
    for (let position = 1; position <= 300; position += 1) server.keeper.commit(recorded(position, 'x'.repeat(2000)));
    const stream = framesOf(await follow(server, '?after=0'));
    const first = await stream.take(150);
    for (let position = 301; position <= 400; position += 1) server.keeper.commit(recorded(position, 'x'.repeat(2000)));
    const rest = await stream.take(250);
    expect(positions([...first, ...rest])).toEqual(Array.from({ length: 400 }, (_, at) => at + 1));
  });

  it('is cut off if it takes nothing for too long', async () => {
    let response: ServerResponse | undefined;
    let caughtUp: Promise<void> | undefined;
    const server = createServer((_request, answer) => {
      response = answer;
      // More than the buffers of the system can take.
      const stream = openEventStream(answer, { ...calm, stallMs: 30, bufferBytes: 32 * 1024 * 1024 });
      while (!stream.isFull) stream.send({ data: large });
      caughtUp = stream.drained();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const reader = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    reader.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    onTestFinished(() => void reader.destroy());
    await until(() => response?.destroyed);
    await caughtUp;
  });

  it('is told nothing more when the log cannot be read, and the daemon says so in its own log', async () => {
    const server = await givenServer({ streamLimits: { ...calm, bufferBytes: 1024 } });
    for (let position = 1; position <= 10; position += 1) server.keeper.commit(recorded(position, large));
    server.keeper.broken = true;
    const text = await textOf(await follow(server, '?after=0'));
    expect(text).not.toContain('secret-of-the-disk');
    expect(server.errors).toHaveLength(1);
  });
});
