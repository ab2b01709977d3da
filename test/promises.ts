/**
 * What the README, the guides and the contract's pages claim, each with the test that would fail if it were not so.
 * `heldBy` is the file and words of the test's title.
 */
export interface Promised {
  readonly claim: string;
  readonly heldBy: readonly [file: string, title: string];
}

export const promises: Readonly<Record<string, Promised>> = {
  // Files
  'config:both-roots': {
    claim: '`servers` and `mcpServers` are read and written back under the key found.',
    heldBy: ['test/config/edit.test.ts', 'writes a name in whatever place it stood'],
  },
  'config:keeps-text': {
    claim: 'An edit keeps comments, order, unknown keys, mode and links.',
    heldBy: ['test/e2e/config.test.ts', 'keeps comments, order, unknown keys and everything else that was there'],
  },
  'config:concurrent-adds': {
    claim: 'Thirty adds at once end with thirty entries.',
    heldBy: ['test/e2e/config.test.ts', 'loses none of thirty that come at once'],
  },
  'config:one-bad-entry': {
    claim: 'An entry with an error stops no other entry.',
    heldBy: ['test/e2e/config.test.ts', 'loses only the entries that are wrong, and each says what is'],
  },
  'config:broken-file': {
    claim: 'A file that cannot be parsed keeps the running set and shows line and column.',
    heldBy: ['test/e2e/config-edits.test.ts', 'left broken keeps what runs and says where, until it is mended'],
  },
  'config:only-changed': {
    claim: 'Only entries that changed restart.',
    heldBy: ['test/e2e/config-edits.test.ts', 'only the entry that changed is started anew'],
  },
  'config:variables': {
    claim: 'A variable that is not set is an error of its entry, and nothing is started or sent for it.',
    heldBy: ['test/e2e/config.test.ts', 'sends and starts nothing, and the other entries run'],
  },
  'config:stars': {
    claim: '`***` keeps the stored value.',
    heldBy: ['test/e2e/config.test.ts', 'takes *** for the value that is stored, and shows no other'],
  },
  'files:private': {
    claim: 'What the daemon writes can be read by its owner only.',
    heldBy: ['test/e2e/config.test.ts', 'can be read by nobody else'],
  },
  'data:one-owner': {
    claim: 'Exactly one daemon a data directory.',
    heldBy: ['test/e2e/owner.test.ts', 'is taken by exactly one of two daemons that start at the same instant'],
  },
  'port:taken': {
    claim: 'A port that is taken is one clear error that names it.',
    heldBy: ['test/e2e/owner.test.ts', 'is one clear error that names it and the option, and costs nothing else'],
  },
  // Names and results
  'names:fit': {
    claim: 'Registered names fit every model, are all different and the same after a restart.',
    heldBy: ['test/e2e/lists.test.ts', 'are the same after a restart, whoever connects first'],
  },
  'names:real': {
    claim: 'Tools of real servers are named mcp__<server>__<tool>.',
    heldBy: ['test/e2e/real-servers.test.ts', 'offer their tools under names that say where they come from'],
  },
  'results:cap': {
    claim: 'A result of exactly 1 MiB passes untouched; one byte more is cut.',
    heldBy: ['test/e2e/results.test.ts', 'lets exactly that much through untouched, and cuts one byte more'],
  },
  'results:as-received': {
    claim: 'Everything else passes block for block.',
    heldBy: ['test/mcp/calls.test.ts', 'block'],
  },
  // Confirmation
  'gate:modes': {
    claim: 'Every call goes through the gate in the mode of its request.',
    heldBy: ['test/e2e/gate.test.ts', 'lets a granted tool run in mode %s'],
  },
  'gate:window': {
    claim:
      'A held call is answered with its id when the window ends, and runs once when it is approved and comes again.',
    heldBy: [
      'test/e2e/gate.test.ts',
      'is answered with its id when the window ends, and runs once when it is approved and comes again',
    ],
  },
  'gate:one-approval': {
    claim: 'An approval fits one call, once.',
    heldBy: ['test/e2e/gate.test.ts', 'and another who approve at the same moment let it run once'],
  },
  'gate:suspended': {
    claim: 'A grant is suspended when the definition of its tool changes, and nothing runs by it.',
    heldBy: [
      'test/e2e/gate.test.ts',
      'are suspended when one word of its description changes, and nothing runs by them',
    ],
  },
  'gate:foreign-lines': {
    claim: 'Replacing the grants of one server leaves every other line as it is.',
    heldBy: [
      'test/e2e/gate.test.ts',
      'of one server are replaced through the API, and every other line keeps its bytes',
    ],
  },
  'gate:removed-server': {
    claim: 'Removing a server removes its grants.',
    heldBy: ['test/e2e/gate.test.ts', 'go with their server, and the next server of that name inherits nothing'],
  },
  'gate:restart': {
    claim: 'Held calls end as abandoned when the daemon stops.',
    heldBy: ['test/e2e/gate.test.ts', 'is abandoned when the daemon stops, and the one who waits is told'],
  },
  // HTTP
  'http:guard': {
    claim: 'A web page can do nothing, whatever it knows.',
    heldBy: ['test/e2e/security.test.ts', 'does nothing for a web page of another origin, whatever the page knows'],
  },
  'http:token': {
    claim: 'All but health and documentation needs the token.',
    heldBy: ['test/e2e/security.test.ts', 'wants the token for everything but health and the documentation'],
  },
  'http:openapi': {
    claim: 'The API description names every route.',
    heldBy: ['test/e2e/api.test.ts', 'names every route of the daemon, and no route that is not there'],
  },
  'http:secrets': {
    claim: 'Secrets are in no answer, no log line and no byte of the data directory.',
    heldBy: ['test/e2e/security.test.ts', 'is in no answer, no log line and no byte of the data directory'],
  },
  'http:feed': {
    claim: 'The feed of facts is taken up again where a reader left it.',
    heldBy: ['test/e2e/api.test.ts', 'can be followed, and taken up again where a reader left it'],
  },
  'http:at': {
    claim: 'Status and tools can be asked as of any moment.',
    heldBy: ['test/e2e/api.test.ts', 'is shown as it was at any position and at any time'],
  },
  'http:history': {
    claim: 'History has an interval for every moment, also for those nobody watched.',
    heldBy: ['test/e2e/api.test.ts', 'has an interval for every moment, also for those in which no daemon watched'],
  },
  'http:errors': { claim: 'Every kind of problem has a page.', heldBy: ['test/http/problem.test.ts', 'page'] },
  // The MCP endpoint
  'hub:conformance': {
    claim: 'Every scenario the official suite requires of a server passes through the endpoint.',
    heldBy: ['test/conformance/conformance.test.ts', 'passes with the hub in between: %s'],
  },
  'hub:two-ways': {
    claim: 'AI clients reach all servers by URL or by `watchkeeper mcp`, with either line of the SDK.',
    heldBy: ['test/hub/stdio.test.ts', 'lists and calls tools of all servers'],
  },
  'hub:nobody-else': {
    claim: 'A question of a server goes to the client it concerns, or to nobody.',
    heldBy: ['test/hub/input.test.ts', 'asks nobody rather than the wrong one'],
  },
  'hub:held': {
    claim: 'A call of an AI client passes the gate, reports that it waits, and runs once a person lets it.',
    heldBy: ['test/hub/endpoint.test.ts', 'that is held reports that it waits, and runs once a person lets it'],
  },
  'hub:real-servers': {
    claim: 'Eight real servers list and do what they are asked for clients of both lines of the SDK, at every door.',
    heldBy: ['test/interop/real-servers.test.ts', '$name lists its tools and does what it is asked'],
  },
  'hub:cancel': {
    claim: 'Cancelling ends the call of that client alone, at its server, though clients number their requests alike.',
    heldBy: ['test/hub/cancel.test.ts', 'only the one that is cancelled by %s ends, at the right server'],
  },
  'hub:expiry': {
    claim: 'A session that nobody uses is forgotten after the time that is set, and answers 404.',
    heldBy: ['test/hub/expiry.test.ts', 'is forgotten after the time that is set, and answers 404 from then on'],
  },
  'hub:return': {
    claim: 'A session open since before a server died lists it again once it is ready.',
    heldBy: ['test/hub/recovery.test.ts', 'lists its tools again once it is ready'],
  },
  'hub:tasks': {
    claim: 'Tasks are not carried: neither side hears of any, and a call that asks for one is answered as usual.',
    heldBy: ['test/hub/tasks.test.ts', 'that asks for a task is answered as usual, and its server hears of no task'],
  },
  'hub:restart': {
    claim: 'A client of `watchkeeper mcp` keeps its subscriptions when the daemon is restarted.',
    heldBy: ['test/hub/stdio.test.ts', 'keeps a subscription of the modern era when the daemon %s'],
  },
  'hub:once': {
    claim: 'A call that a dying daemon may have taken is not sent to the next one.',
    heldBy: ['test/hub/stdio.test.ts', 'does not run a call a second time when the daemon dies in the middle of it'],
  },
  // Life
  'life:slow-server': {
    claim: 'A slow or dead server delays no other and no answer.',
    heldBy: ['test/e2e/start.test.ts', 'answers at once while they start, and shows every one of them'],
  },
  'life:killed': {
    claim: 'A server that is killed comes back with the same tools, and the log holds signal and last words.',
    heldBy: [
      'test/e2e/life.test.ts',
      'is lost with signal and last words, is ready again, and offers the same tools as before',
    ],
  },
  'life:session': {
    claim: 'A lost session is renewed once, however many calls noticed.',
    heldBy: [
      'test/e2e/http-servers.test.ts',
      'is asked for a new one once, however many calls noticed, and every call comes through',
    ],
  },
  'life:burst': {
    claim: 'A burst of announcements leads to two lists at most.',
    heldBy: [
      'test/e2e/list-changes.test.ts',
      'that is announced many times leads to two lists at most and to one fact',
    ],
  },
  'life:poll': {
    claim: 'A change nobody announced is found by polling, and polling alone leaves no trace.',
    heldBy: [
      'test/e2e/list-changes.test.ts',
      'that nobody announced is found by asking now and then, and asking alone leaves no trace',
    ],
  },
  'life:backoff': {
    claim: 'A server that keeps failing is started ever less often.',
    heldBy: ['test/e2e/stdio.test.ts', 'is started ever less often'],
  },
  'life:auth': {
    claim: 'A server that wants a login waits for a person; nothing is tried again.',
    heldBy: ['test/e2e/http-servers.test.ts', 'waits for a person, and nothing is tried again'],
  },
  'life:group': {
    claim: 'The whole process group of a server ends with it.',
    heldBy: [
      'test/e2e/stdio.test.ts',
      'is gone after its entry is removed, disabled or changed, and the changed ones run anew',
    ],
  },
  'life:stop': {
    claim: 'The daemon stops within its time and leaves nothing.',
    heldBy: ['test/e2e/life.test.ts', 'ends what runs and leaves nothing'],
  },
  // Recordings
  'recording:again': {
    claim: 'A recorded server that is served again has the same tools byte for byte and fails in the same order.',
    heldBy: ['test/e2e/record.test.ts', 'drops it again at the same call, over HTTP'],
  },
  'recording:secrets': {
    claim: 'No secret of an entry reaches a recording, in whatever form the server repeats it.',
    heldBy: [
      'test/e2e/record.test.ts',
      'holds no secret of the entry, in whatever form the server repeats it, and nothing that looks like a credential',
    ],
  },
  'recording:harmless': {
    claim: 'A recording that cannot be written ends with one warning, and the server goes on.',
    heldBy: ['test/e2e/record.test.ts', 'that cannot be written ends with one warning, and the server goes on'],
  },
  'recording:capped': {
    claim: 'A recording stays within its limit and drops the oldest first.',
    heldBy: ['test/e2e/record.test.ts', 'is private, stays within its limit, and drops the oldest first'],
  },
  // Log
  'log:crash': {
    claim: 'Killed at any moment, the daemon starts again at once, and its log has no hole.',
    heldBy: ['test/e2e/crash.test.ts', 'starts again each time, with a log that has no hole'],
  },
  'log:before-the-first-byte': {
    claim: 'No server sees a call whose start is not in the log.',
    heldBy: ['test/e2e/crash.test.ts', 'has the start of every call that a server saw, and no server saw one twice'],
  },
  'log:open-ends': {
    claim: 'What a death left open is closed: unknown when it may have run.',
    heldBy: [
      'test/e2e/crash.test.ts',
      'ends what a death left open: as unknown when it may have run, as abandoned when it waited for a person',
    ],
  },
  'log:replay': {
    claim: 'Folding the log gives the recorded states; rebuilt views equal the live ones.',
    heldBy: ['test/actors/chaos.test.ts', 'views and heads that are built anew from the log are those that were there'],
  },
  'log:tampered': {
    claim: 'A row of the log that somebody changed is found by --verify, with its position.',
    heldBy: ['test/e2e/replay.test.ts', 'a row that somebody changed is found, with its position'],
  },
  'log:frozen': {
    claim: 'The machines of today explain the logs of every release.',
    heldBy: ['test/events/frozen.test.ts', 'is explained to its last fact'],
  },
  'log:what-if': {
    claim: 'Lived again with the limits it had, a server goes on as it did, fact by fact.',
    heldBy: ['test/replay/chaos.test.ts', 'with the limits they had go on as they did, fact by fact'],
  },
  'log:assumed': {
    claim: 'A question of what if names every answer that had to be assumed.',
    heldBy: ['test/replay/what-if.test.ts', 'for the careful it hangs until it was seen to answer'],
  },
  'log:full-disk': {
    claim: 'A commit that fails answers nothing and loses no report.',
    heldBy: ['test/actors/desk.test.ts', 'report'],
  },
  'log:rebuild': {
    claim: 'Views and heads are disposable: filled again from the log they are the same.',
    heldBy: ['test/projections/rebuild.test.ts', 'rebuilt views and heads equal the live ones'],
  },
  'log:newer': {
    claim: 'A database of a newer version is refused and left as it is.',
    heldBy: ['test/events/sqlite.test.ts', 'of a newer version is refused and left as it is'],
  },
  'log:clock': {
    claim: 'Time never goes back in the log, though the clock did.',
    heldBy: ['test/daemon/clock.test.ts', 'takes no time back in the log'],
  },
  'log:samples': { claim: 'Every released shape stays readable.', heldBy: ['test/events/samples.test.ts', 'sample'] },
  'log:events-page': {
    claim: 'docs/events.md is the catalogue.',
    heldBy: ['test/events/describe.test.ts', 'docs/events.md'],
  },
  'why:afternoon': {
    claim: '`why` tells what led to a state at any moment, newest first, each link with its place in the log.',
    heldBy: ['test/replay/why.test.ts', 'names the place of every link, newest first'],
  },
  'why:states': {
    claim: '`why` has an answer and the next thing to do for every state.',
    heldBy: ['test/e2e/why.test.ts', 'is as it is, and answers what it is and what to do'],
  },
  'why:long': {
    claim: '`why` reads the stretch that matters, however long the log and the trouble are.',
    heldBy: ['test/replay/why.test.ts', 'is told from its beginning without reading all of it'],
  },
  'why:offline': {
    claim: '`why` and `bundle` work on the files when no daemon runs.',
    heldBy: ['test/e2e/why.test.ts', 'the same is told from the files'],
  },
  'catalog:word-by-word': {
    claim: 'A changed definition of a granted tool is shown word by word, with the grant it suspended.',
    heldBy: ['test/e2e/why.test.ts', 'how a granted tool changed, word by word, and that its grant was suspended'],
  },
  'bundle:redacted': {
    claim: 'A bundle opens with tar and holds no secret, no home and no other server.',
    heldBy: ['test/e2e/why.test.ts', 'without a secret or a home'],
  },
  'bundle:bounded': {
    claim: 'A broken, foreign or oversized bundle is refused, and reading one writes nothing.',
    heldBy: ['test/replay/bundle.test.ts', 'a small archive of endless zeros'],
  },
  'past:at': {
    claim: '`at=` is what was shown then, found from the newest mark.',
    heldBy: ['test/keeper/as-of.test.ts', 'is found from the newest mark: a long past is not folded again'],
  },
  'past:future': {
    claim: 'A moment that has yet to come is refused, with the newest position and time.',
    heldBy: ['test/e2e/doctor.test.ts', 'of a moment that has yet to come is not made up'],
  },
  'summary:numbers': {
    claim: 'Availability leaves out time nobody watched and time a server was off, and says how long that was.',
    heldBy: ['test/replay/summary.test.ts', 'leaves out time nobody watched, and does not take it for a repair'],
  },
  'summary:hints': {
    claim: 'What losses have in common is found, and its rows are named.',
    heldBy: ['test/replay/correlation.test.ts', 'is found when sessions end at an age: 14 of 15 times'],
  },
  'summary:chance': {
    claim: 'A hint is shown only where chance does not explain it.',
    heldBy: ['test/replay/correlation.test.ts', 'gives no hint'],
  },
  'hub:itself': {
    claim: 'The built-in server is called through every door, and passes the gate like any other.',
    heldBy: ['test/e2e/builtin.test.ts', 'is called like any other, by every door'],
  },
  'hub:itself-name': {
    claim: 'An entry called `watchkeeper` is an error of that entry while the built-in server is on.',
    heldBy: ['test/e2e/builtin.test.ts', 'is an error of an entry that has it, as long as the setting is on'],
  },
  'hub:itself-sight': {
    claim: 'A client finds no server it does not see in the answers of the built-in one.',
    heldBy: ['test/builtin/tools.test.ts', 'finds no other one in any answer'],
  },
  'replay:bundle': {
    claim: 'A changed row of a bundle is found, with its position.',
    heldBy: ['test/e2e/past.input.test.ts', 'a changed row of a bundle is found, with its position'],
  },
  'past:input': {
    claim: 'Commands about the past refuse the same things with a daemon and without.',
    heldBy: ['test/e2e/past.input.test.ts', 'with a daemon: %s'],
  },
  'past:offline': {
    claim: '`status --at`, `tools --at` and `tools --changes` answer the same without a daemon.',
    heldBy: ['test/e2e/past.test.ts', 'are the same without a daemon, and it is said since when nobody has watched'],
  },
  'doctor:every-server': {
    claim: '`doctor` has a verdict on every server, with rows of the log, and says no secret.',
    heldBy: [
      'test/e2e/doctor.test.ts',
      'is found for every server, with rows of the log and checks, and nothing secret is said',
    ],
  },
  'doctor:starts-nothing': {
    claim: 'Checks start no server.',
    heldBy: ['test/e2e/doctor.test.ts', 'starts no server to find it out'],
  },
  'doctor:no-secret-out': {
    claim: 'A check sends no header, credential or query of the entry.',
    heldBy: [
      'test/keeper/checks.test.ts',
      'is asked for without query, credentials and headers of the entry, and once',
    ],
  },
  'doctor:limits': {
    claim: 'Every check has a time limit of its own, and none throws.',
    heldBy: ['test/keeper/checks.test.ts', 'that never ends is cut off by its own time limit, and the others are not'],
  },
  'clients:bytes': {
    claim: '`disconnect` gives a file back byte for byte if nobody else changed it.',
    heldBy: ['test/e2e/clients.test.ts', 'and disconnected: every file is as it was, and its token ends'],
  },
  'clients:same-again': {
    claim: 'Connecting or syncing again changes no byte.',
    heldBy: ['test/e2e/clients.test.ts', 'again, and no byte changes'],
  },
  'clients:unreachable': {
    claim: 'Without the daemon `sync` ends with exit code 3 and touches no file.',
    heldBy: ['test/e2e/clients.test.ts', 'and keeps its file as it is when the daemon cannot be asked'],
  },
  'clients:edits': {
    claim: 'Edits keep comments, order, spacing and everything that is not ours, in all four forms.',
    heldBy: ['test/clients/formats.test.ts', 'every line of people stays in'],
  },
  'clients:doctor': {
    claim: '`doctor` finds what keeps a connected client from working, and names the command that mends it.',
    heldBy: ['test/cli/clients.test.ts', 'finds %s, names what mends it and ends with 1'],
  },
  'clients:round-trip': {
    claim: 'The file of every client, in every state people leave it in, is given back byte for byte.',
    heldBy: ['test/cli/clients.round-trip.test.ts', 'is given back byte for byte: $id, $what'],
  },
  'clients:shared-file': {
    claim: 'Two clients that read one file do not get their entries over each other.',
    heldBy: ['test/cli/clients.test.ts', 'has entries of one of them, unless they are called otherwise'],
  },
  'clients:identifiers': {
    claim: 'Identifiers that a client would drop or refuse are warned about, from facts, with every way out.',
    heldBy: ['test/clients/identifier.test.ts', 'are told in one sentence with what is lost and every way out'],
  },
  'clients:longest': {
    claim: 'What is computed with is what the endpoint lists.',
    heldBy: ['test/e2e/clients.test.ts', 'are warned about at connect and at sync, on one line, with every way out'],
  },
  'clients:tools-only': {
    claim: 'The token of a client opens tools and nothing else, in its mode and never above it.',
    heldBy: ['test/http/clients.test.ts', 'opens nothing else: %s %s'],
  },
  'clients:import': {
    claim: '`import` takes each server once, tells namesakes apart and keeps secrets out on request.',
    heldBy: [
      'test/e2e/clients.test.ts',
      'takes each server once, tells namesakes apart and keeps secrets out on request',
    ],
  },
  'up:unusable-directory': {
    claim: 'A data directory that cannot be used is refused by name, and one that others use is left as it is.',
    heldBy: ['test/config/data-directory.test.ts', 'that everybody uses is left as it is'],
  },
  'up:stops-early': {
    claim: 'A daemon that is told to end while it starts does so, and starts no server.',
    heldBy: [
      'test/e2e/stop-while-starting.test.ts',
      'does so while %s: no server was started, and the next one starts as usual',
    ],
  },
  'calls:approved-count': {
    claim: 'Calls that a person approved count among the maxConcurrency of their server.',
    heldBy: ['test/actors/call/call.actor.test.ts', 'count those that a person approved (the caller waits: %s)'],
  },
  // Logins
  'login:unattended': {
    claim: 'No browser opens by itself; a server that wants a login names the command once and asks for nothing.',
    heldBy: ['test/e2e/login.test.ts', 'waits for a person, names the command once, and asks for nothing meanwhile'],
  },
  'login:heals': {
    claim: 'A login connects the server without a restart, and outlives one.',
    heldBy: ['test/e2e/login.test.ts', 'runs after a login in the browser, without a restart'],
  },
  'login:state': {
    claim: 'What comes to the callback address without knowing the state of a login changes nothing.',
    heldBy: [
      'test/e2e/login.test.ts',
      'takes nothing that does not know the state: neither strays nor forgeries nor repeats',
    ],
  },
  'login:port': {
    claim: 'A callback port that is taken is named at once, with the setting, and nothing is opened.',
    heldBy: ['test/e2e/login.test.ts', 'says at once that its port is taken, and by which setting it can be another'],
  },
  'login:one-renewal': {
    claim: 'A token is renewed once, however many calls and daemons need it.',
    heldBy: ['test/e2e/login.test.ts', 'that has ended is renewed once, however many calls need it'],
  },
  'login:two-daemons': {
    claim: 'A daemon uses what another has renewed, and never deletes it.',
    heldBy: [
      'test/oauth/account.test.ts',
      'use what the other has renewed, also long afterwards, and spend no old refresh token',
    ],
  },
  'login:no-loop': {
    claim: 'A token that is refused is renewed once; then a login is wanted.',
    heldBy: [
      'test/e2e/login.test.ts',
      'that is refused although it is new ends in a login that is wanted, without a loop',
    ],
  },
  'login:logout': {
    claim: 'A logout takes the token from the live session, tells the authorization server and brings nothing back.',
    heldBy: [
      'test/e2e/login.test.ts',
      'takes the token away at once, tells the authorization server, and brings nothing back',
    ],
  },
  'login:addresses': {
    claim: 'Addresses that a server names are checked before anything fetches or opens them.',
    heldBy: ['test/oauth/addresses.test.ts', 'is refused with the reason'],
  },
  'login:secrets': {
    claim: 'No token, code or secret stands in a file, a log, an event or an answer.',
    heldBy: ['test/e2e/login.test.ts', 'stands in any file, log, event or answer'],
  },
  'login:hidden': {
    claim: 'Nor in a recording, a bundle, an argument or the environment of a process.',
    heldBy: [
      'test/e2e/login.test.ts',
      'goes to a child, into a recording or a bundle, or to whoever looks at the processes',
    ],
  },
  'login:removal': {
    claim:
      'A removed server leaves no credentials, under any address it had, also when it was removed while no daemon ran.',
    heldBy: [
      'test/e2e/login.test.ts',
      'comes with the removal of the server also while no daemon runs, for every address it ever had',
    ],
  },
  'login:full-disk': {
    claim: 'A renewed token that cannot be written is not lost.',
    heldBy: [
      'test/oauth/account.test.ts',
      'does not cost a login whose token was just renewed; it is written when that is possible again',
    ],
  },
  'login:locked': {
    claim: 'A locked keychain is named before anybody is sent to a browser.',
    heldBy: [
      'test/e2e/login.keychain.test.ts',
      'a locked one is named before anybody is sent to a browser, and nothing goes into a file',
    ],
  },
  'login:vanished': {
    claim: 'A keychain that vanishes while the daemon runs costs no login.',
    heldBy: ['test/e2e/login.keychain.test.ts', 'one that vanishes while the daemon runs costs no login'],
  },
  'login:shared': {
    claim: 'Two daemons that share a keychain renew a login once, and log out together.',
    heldBy: ['test/e2e/login.keychain.test.ts', 'two daemons that share one renew a login once, and log out together'],
  },
  'login:keychain': {
    claim: 'Tokens are in the keychain where there is one, and nothing of them is on disk.',
    heldBy: [
      'test/e2e/login.keychain.test.ts',
      'tokens are there and nothing of them is on disk, over a restart and until the logout',
    ],
  },
  // Trust
  'trust:doors': {
    claim: 'Every door goes through the same gate: a call ends the same whichever way it comes in.',
    heldBy: ['test/e2e/doors.test.ts', 'a call that is $verdict ends as it does through every door'],
  },
  'trust:hidden': {
    claim: 'A tool that is excluded, of a disabled server or outside the view of a client is called by no spelling.',
    heldBy: ['test/e2e/doors.test.ts', 'no spelling of a hidden tool reaches it'],
  },
  'trust:approved-and-changed': {
    claim: 'An approval runs nothing that was hidden, disabled or taken from its client meanwhile.',
    heldBy: ['test/e2e/doors.test.ts', 'An approval'],
  },
  'trust:every-tool': {
    claim: 'Granting every tool is not granting the server.',
    heldBy: ['test/e2e/trust.test.ts', 'are no grant of the server: a tool that comes later asks'],
  },
  'trust:shown': {
    claim: 'A held call is shown with its arguments, the entry of its server, hashes, and what is unusual.',
    heldBy: [
      'test/e2e/trust.test.ts',
      'its arguments, the entry of its server without secrets, hashes, and what is unusual',
    ],
  },
  'trust:ask-in-client': {
    claim: 'A held call is put to the person in the client only where that was set, and then for this call only.',
    heldBy: ['test/e2e/trust.test.ts', 'is none unless that was set for it: nobody can decide there'],
  },
  'trust:view': {
    claim: 'A client sees the servers it was given and hears of no other.',
    heldBy: ['test/e2e/trust.test.ts', 'is told of no other: tools, instructions, status, prompts and resources'],
  },
  'trust:rate': {
    claim: 'A client with a rate is refused what is too much, by whatever way it calls.',
    heldBy: ['test/e2e/trust.test.ts', 'is refused what is too much, through HTTP and at the endpoint alike'],
  },
  'trust:changes': {
    claim: 'What changed in a definition is shown word by word, over all servers and for each suspended grant.',
    heldBy: [
      'test/e2e/trust.test.ts',
      'suspends it, and before and after are shown word by word: over HTTP, by allow and by changes',
    ],
  },
  'trust:unknown': {
    claim: 'A call whose outcome is unknown is listed until a person says what came of it.',
    heldBy: ['test/e2e/trust.test.ts', 'is listed until a person closes it, by the command line'],
  },
  'trust:repeat': {
    claim: 'What may be sent again is a matter of the entry; unless it says so, only what surely never left.',
    heldBy: ['test/actors/call/call.actor.test.ts', 'what may be sent again when a connection ends'],
  },
  'trust:chain': {
    claim: 'An edit to any member of any fact is found, with its position.',
    heldBy: ['test/replay/chain.test.ts', 'whatever single member of whatever row is changed'],
  },
  'trust:verify': {
    claim: '`ledger verify` works with and without the daemon.',
    heldBy: [
      'test/e2e/trust.test.ts',
      'is whole after a life, is verified with and without the daemon, and shows an edit to one fact',
    ],
  },
  'trust:disk': {
    claim: 'Neither arguments nor results nor tokens of clients are on the disk.',
    heldBy: [
      'test/e2e/trust.test.ts',
      'finds neither arguments nor results nor tokens of clients, also of calls that waited for a person',
    ],
  },
  'trust:cancel': {
    claim: 'A held call that its client cancels is gone from the approvals and recorded as cancelled, in each era.',
    heldBy: ['test/hub/unwanted.test.ts', 'by %s is gone from the approvals and recorded as cancelled'],
  },
  'trust:threats': {
    claim: 'Each line of the threat model names a test that exists.',
    heldBy: ['test/docs/security.test.ts', 'names what stops %s, and a test for it'],
  },

  // The terminal
  'tui:story': {
    claim:
      'A server is added, watched, mended, granted, asked about, followed back in time and removed on the terminal.',
    heldBy: [
      'test/e2e/tui.test.ts',
      'a server is added, fails, is mended, granted a tool, asked about, followed back in time and removed',
    ],
  },
  'tui:no-accident': {
    claim: 'What a person is typing never answers a call that appears.',
    heldBy: ['test/e2e/tui.test.ts', 'a call is not answered by what is being typed when it appears'],
  },
  'tui:survives': {
    claim: 'The terminal survives restarts of the daemon, keeps its place, and is given back as it was.',
    heldBy: [
      'test/e2e/tui.test.ts',
      'it starts the daemon if none runs, says when it is gone, comes back to its place and gives the terminal back',
    ],
  },
  'tui:suspend': {
    claim: 'Ctrl-Z gives the terminal to the shell, and fg goes on where one was.',
    heldBy: [
      'test/e2e/tui.test.ts',
      'Ctrl-Z gives the terminal to the shell, and fg takes it again with all that was on it',
    ],
  },
  'tui:restored': {
    claim: 'What ends the terminal from outside leaves it usable.',
    heldBy: ['test/e2e/tui.test.ts', 'what is on the terminal after %s can be used as before'],
  },
  'tui:as-it-runs': {
    claim: 'A held call hides nothing: what could not be seen in its names and arguments is written out.',
    heldBy: [
      'test/tui/held.test.ts',
      'hides nothing of what would run: characters that are not to be seen are written out, and that is said',
    ],
  },
  'tui:fits': {
    claim: 'Every screen fits into 80 × 24.',
    heldBy: ['test/tui/layout.test.ts', '%s fits into %i × %i and leaves the last row free'],
  },
  'tui:harmless': {
    claim: 'Text of servers cannot steer the terminal.',
    heldBy: ['test/tui/list.test.ts', 'lets nothing of a server steer the terminal'],
  },
};
