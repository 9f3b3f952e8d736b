/**
 * Lua function for values that any client may have written. `whole` returns the number of a text of digits up to `most`, else nil. Every script
 * counts a value of another form as absent, overwrites it, and reports that it was there.
 */
const wholeNumber = `
local whole = function(text, most)
  if type(text) ~= 'string' or #text > 16 or not string.find(text, '^%d+$') then return nil end
  local number = tonumber(text)
  if number > most then return nil end
  return number
end
local mostWhole = 9007199254740991
`;

/**
 * Lua function that runs a command on a key. Another type under the key is deleted, and the function returns nil. Any other error of Redis, such as
 * no memory, ends the script: then no value is wrong, and a deletion would lose data.
 */
export const typedCommand = `
local typed = function(command, key, ...)
  local answer = redis.pcall(command, key, ...)
  if type(answer) ~= 'table' or not answer.err then return answer end
  if not string.find(answer.err, '^-?WRONGTYPE') then return redis.call(command, key, ...) end
  redis.call('DEL', key)
  return nil
end
`;

/** Argument of `takeScript`: what is wanted, and what the pod knows. A field without a limit is absent. */
export type TakeArgument = {
  /** All numbers of the plan. */
  readonly plan: Readonly<Record<string, number>>;
  /** Least tokens that help, tokens wanted, and tokens put back. */
  readonly least: number;
  readonly want: number;
  readonly back: number;
  /** Use that a pod counted while Redis was unavailable: its deficit, its tokens of the day, and the deficit of all pods. */
  readonly away?: { readonly deficit: number; readonly usedToday: number; readonly ofAllPods: number };
  /**
   * The pod's copy of the hash: when the hash was made and copied, the deficit by now, the day, and tokens of the day. The copy counts if Redis has
   * another hash or an older one, because Redis lost the hash that the pod copied.
   */
  readonly copy?: {
    readonly made: number;
    readonly copied: number;
    readonly deficit: number;
    readonly day: number;
    readonly usedToday: number;
  };
  /** Unix microseconds, for simulated clocks only. */
  readonly nowUs?: number;
};

/**
 * Takes tokens from the buckets and days of one or more subjects, in one step for all pods. The rule is that of `bucket.ts`, in the same whole
 * millionths and microseconds. The keys of one call are in one slot of a cluster: each has its subject as hash tag.
 *
 * KEYS[i] is the hash of a subject.
 * - `d` deficit, `u` time of the deficit.
 * - `day`, `n` tokens of that day.
 * - `g` time when the hash was made.
 *
 * ARGV[i] is a TakeArgument in JSON.
 *
 * Answers nine numbers a subject.
 * - 1 granted, 2 reason (0 none, 1 rate, 2 day), 3 wait in microseconds.
 * - 4 deficit, 5 tokens of the day, 6 when the hash was made, 7 the day.
 * - 8 is 1 if a value had another form. 9 is the time of the deficit.
 */
export function takeScript(time: string): string {
  return `${wholeNumber}${typedCommand}
local token, dayUs = 1000000, 86400000000
local text = function(number) return string.format('%.0f', number) end
local nothingAway = {deficit = 0, usedToday = 0, ofAllPods = 0}
local noCopy = {made = 0, copied = 0, deficit = 0, day = 0, usedToday = 0}
local answers = {}
for subject = 1, #KEYS do
  local key, arg = KEYS[subject], cjson.decode(ARGV[subject])
  local now = ${time}
  local rate, burst, perDay = arg.plan.requestsPerSecond, arg.plan.burst, arg.plan.requestsPerDay
  local least, want, back = arg.least, arg.want, arg.back
  local away, copy = arg.away or nothingAway, arg.copy or noCopy
  local cap, today, wrong = burst * token, math.floor(now / dayUs), 0
  local stored = typed('HMGET', key, 'd', 'u', 'day', 'n', 'g')
  if not stored then stored, wrong = {}, 1 end
  local most, value = {cap + 1000000 * token, mostWhole, today + 1, 1000000000000, mostWhole}, {}
  for at = 1, #most do
    value[at] = whole(stored[at], most[at])
    if stored[at] and not value[at] then wrong = 1 end
  end
  if wrong == 1 then value = {} end
  local deficit, made = 0, value[5]
  if value[1] then deficit = math.max(0, value[1] - math.max(0, now - (value[2] or now)) * rate) end
  local isLost = made ~= copy.made or (value[2] or 0) < copy.copied
  if isLost then deficit = math.max(deficit, copy.deficit) end
  if away.deficit > 0 then
    deficit = math.max(deficit, math.min(math.max(deficit + away.deficit, away.ofAllPods), cap))
  end
  deficit = math.max(0, deficit - back * token)
  local day, used = today, 0
  if value[3] and value[3] >= day then
    day, used = value[3], value[4] or 0
  end
  if isLost and copy.day == day then used = math.max(used, copy.usedToday) end
  used = math.max(0, used - back)
  -- A hash older than a copy counts as another hash, so that the copies of the other pods count too.
  if not made or (made == copy.made and isLost) then made = now end
  used = used + away.usedToday
  local grant, reason, wait = want, 0, 0
  if perDay then
    grant = math.min(grant, perDay - used)
    if grant < least then grant, reason, wait = 0, 2, (day + 1) * dayUs - now end
  end
  if reason == 0 and rate > 0 then
    local room = math.floor((cap - deficit) / token)
    if room < grant then
      if room >= least then
        grant = room
      elseif least > burst and deficit == 0 then
        grant = least
      else
        grant, reason = 0, 1
        wait = math.ceil((deficit - math.max(0, burst - least) * token) / rate)
      end
    end
  end
  if rate > 0 then deficit = deficit + grant * token end
  used = used + grant
  redis.call('HSET', key, 'd', text(deficit), 'u', text(now), 'day', text(day), 'n', text(used), 'g', text(made))
  local ttl = 1000
  if rate > 0 then ttl = ttl + math.ceil(deficit / rate / 1000) end
  if perDay then ttl = math.max(ttl, math.ceil(((day + 1) * dayUs - now) / 1000) + 1000) end
  redis.call('PEXPIRE', key, text(ttl))
  for _, number in ipairs({grant, reason, wait, deficit, used, made, day, wrong, now}) do answers[#answers + 1] = number end
end
return answers
`;
}

/** Redis' own clock, so that clocks of pods do not matter. */
export const redisTime = `(function() local t = redis.call('TIME') return tonumber(t[1]) * 1000000 + tonumber(t[2]) end)()`;

/** Numbers that `takeScript` answers for a subject. */
export const TAKE_ANSWER_LENGTH = 9;

/** Highest count of requests on a day; a greater value is malformed. */
export const USAGE_MAX = 1_000_000_000_000;

/**
 * Adds counts to the usage of keys, each flush once however often it is sent.
 * - KEYS[i]: hash of counts, with the last flush of each pod in the field `!flush:<pod>`.
 * - ARGV[1]: the pod.
 * - ARGV[2]: seconds until the hash expires.
 * - ARGV[2 + i]: number of the flush, then fields and counts alternately, separated by tabs.
 *
 * Answers 1 for each key if a value had another form, else 0.
 */
export const countScript = `${wholeNumber}${typedCommand}
local answers = {}
for index = 1, #KEYS do
  local key, part, flush = KEYS[index], {}, '!flush:' .. ARGV[1]
  for text in string.gmatch(ARGV[2 + index], '[^\\t]+') do part[#part + 1] = text end
  local sent, wrong = typed('HGET', key, flush), 0
  if sent == nil then sent, wrong = false, 1 end
  local last = whole(sent, mostWhole)
  if sent and not last then wrong = 1 end
  if (last or 0) < tonumber(part[1]) then
    for at = 2, #part, 2 do
      local count = redis.pcall('HINCRBY', key, part[at], part[at + 1])
      if type(count) == 'table' or count < tonumber(part[at + 1]) or count > ${USAGE_MAX} then
        redis.call('HSET', key, part[at], part[at + 1])
        wrong = 1
      end
    end
    redis.call('HSET', key, flush, part[1])
    redis.call('EXPIRE', key, ARGV[2])
  end
  answers[index] = wrong
end
return answers
`;

/** Most slots of a pod for a subject, above any plan. */
const SLOTS_MAX = 1_000_000;

/**
 * Grants a slot for one more of a subject's requests running at once, over all pods.
 * - KEYS[i]: hash of the slots in use of each pod, with the time of its report.
 * - ARGV[1]: the pod.
 * - ARGV[2]: milliseconds until unreported slots are free.
 * - ARGV[2 + i]: slots of the pod, the requested one included, and the limit (-1: report only).
 *
 * Answers two numbers for each key. The first is 1 if granted, else 0. The second is 1 if a value had another form, else 0.
 */
export const slotsScript = `${wholeNumber}${typedCommand}
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local pod, countedMs, answers = ARGV[1], tonumber(ARGV[2]), {}
for index = 1, #KEYS do
  local key, others = KEYS[index], 0
  local mine, max = string.match(ARGV[2 + index], '^(%d+),(-?%d+)$')
  mine, max = tonumber(mine), tonumber(max)
  local reports, wrong, granted = typed('HGETALL', key), 0, 1
  if not reports then reports, wrong = {}, 1 end
  for at = 1, #reports, 2 do
    local count, when = string.match(reports[at + 1], '^(%d+),(%d+)$')
    count, when = whole(count, ${SLOTS_MAX}), whole(when, now + countedMs)
    if not count or not when then wrong = 1 end
    if not count or not when or now - when > countedMs then
      redis.call('HDEL', key, reports[at])
    elseif reports[at] ~= pod then
      others = others + count
    end
  end
  if max >= 0 and others + mine > max then
    granted = 0
    mine = mine - 1
  end
  if mine > 0 then
    redis.call('HSET', key, pod, string.format('%.0f,%.0f', mine, now))
    redis.call('PEXPIRE', key, countedMs)
  else
    redis.call('HDEL', key, pod)
  end
  answers[2 * index - 1], answers[2 * index] = granted, wrong
end
return answers
`;

/**
 * Registers a pod and counts the pods seen within the last 5 s. KEYS[1] is a sorted set of pods by second, ARGV[1] the pod. The set also contains the
 * time when it was made. That time is in microseconds, so it sorts after all pods.
 *
 * Answers the number of pods and the time when the set was made as text. The third value is 1 if the key had another type. Another time means that
 * Redis lost its data, or that no pod was present.
 */
export const presenceScript = `${typedCommand}
local time = redis.call('TIME')
local now, wrong = tonumber(time[1]), 0
local since = string.format('%.0f', now * 1000000 + tonumber(time[2]))
if not typed('ZADD', KEYS[1], 'NX', since, '!since') then
  redis.call('ZADD', KEYS[1], since, '!since')
  wrong = 1
end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 5)
redis.call('EXPIRE', KEYS[1], 60)
return {redis.call('ZCOUNT', KEYS[1], now - 5, now + 5), redis.call('ZSCORE', KEYS[1], '!since'), wrong}
`;

/** Prepares the key of a sorted set: deletes a value of another type and sets a new version. */
const revocationEntries = `${typedCommand}
local time = redis.call('TIME')
local now = tonumber(time[1])
typed('ZCARD', KEYS[1])
local changed = function() redis.call('SET', KEYS[2], string.format('%.0f', now * 1000000 + tonumber(time[2]))) end
`;

/**
 * Records that ids were revoked or restored. KEYS[1] sorted set of entries, KEYS[2] their version. ARGV[1] 1 for revoked, -1 for restored; then the
 * ids.
 */
export const revocationScript = `${revocationEntries}
for at = 2, #ARGV do redis.call('ZADD', KEYS[1], now * tonumber(ARGV[1]), ARGV[at]) end
changed()
return 0
`;

/**
 * Removes entries that are too old or too many, at most 1,000 at once. KEYS[1] sorted set of entries, KEYS[2] their version. ARGV[1] seconds that an
 * entry stays, ARGV[2] most entries, then ids that must stay. Answers the removed ids.
 */
export const trimScript = `${revocationEntries}
for at = 3, #ARGV do
  local score = redis.call('ZSCORE', KEYS[1], ARGV[at])
  if score and tonumber(score) > 0 then redis.call('ZADD', KEYS[1], now, ARGV[at]) end
end
local oldest = now - tonumber(ARGV[1])
local removed = redis.call('ZRANGEBYSCORE', KEYS[1], -oldest, oldest, 'LIMIT', 0, 1000)
if #removed > 0 then redis.call('ZREM', KEYS[1], unpack(removed)) end
local most = math.min(1000 - #removed, redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[2]))
if most > 0 then
  local surplus = redis.call('ZRANGE', KEYS[1], 0, most - 1)
  redis.call('ZREM', KEYS[1], unpack(surplus))
  for _, id in ipairs(surplus) do removed[#removed + 1] = id end
end
if #removed > 0 then changed() end
return removed
`;
