#!/usr/bin/env python3
"""Writes tables.hpp, tables_google.cpp, tables_v03.cpp, tables_v1.cpp and tables_methods.cpp into this folder, or the one given.

Reads what Debian's protoc says of the files below proto/. Fails for anything that the codec does not know."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SPACES = {'google.protobuf': 'google', 'a2a.v1': 'v03', 'lf.a2a.v1': 'v1'}
KINDS = {1: 'number', 3: 'int64', 5: 'int32', 8: 'boolean', 9: 'text', 11: 'message', 12: 'bytes', 14: 'enumeration'}
FORMS = {'Struct': 'structure', 'Value': 'value', 'ListValue': 'list', 'Timestamp': 'timestamp'}
OPERATIONS = {  # where 0.3 has a name that JSON-RPC does not have
    'TaskSubscription': 'subscribe', 'ListTaskPushNotificationConfig': 'list_push', 'GetAgentCard': 'extended_card',
    'SendMessage': 'send', 'SendStreamingMessage': 'stream', 'GetTask': 'get', 'ListTasks': 'list', 'CancelTask': 'cancel',
    'SubscribeToTask': 'subscribe', 'CreateTaskPushNotificationConfig': 'create_push',
    'GetTaskPushNotificationConfig': 'get_push', 'ListTaskPushNotificationConfigs': 'list_push',
    'DeleteTaskPushNotificationConfig': 'delete_push', 'GetExtendedAgentCard': 'extended_card'}
WARNING = '// Written by tables.py. Do not edit.\n// clang-format off\n'


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def read(data):
    """The fields of a message on the wire: lists of numbers and bytes by field number."""
    fields, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise SystemExit(f'tables.py: wire type {tag & 7} in a descriptor')
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def text(fields, number):
    return fields.get(number, [b''])[-1].decode()


def number(fields, which):
    return fields.get(which, [0])[-1]


def snake(name):
    name = name.replace('OAuth', 'Oauth').replace('.', '')
    words = re.sub(r'([a-z0-9])([A-Z])', r'\1_\2', re.sub(r'([A-Z]+)([A-Z][a-z])', r'\1_\2', name)).lower()
    return {'struct': 'structure'}.get(words, words)


def place(full):
    """`.lf.a2a.v1.Task` as package and the C++ name of its row."""
    package = next(p for p in sorted(SPACES, key=len, reverse=True) if full.startswith('.' + p + '.'))
    return package, SPACES[package] + '::' + snake(full[len(package) + 2:])


class Tables:
    def __init__(self, files):
        self.messages, self.enums, self.methods = {}, {}, []
        for file in map(read, files):
            prefix = '.' + text(file, 2)
            for message in map(read, file.get(4, [])):
                self.add(prefix, message)
            for enum in map(read, file.get(5, [])):
                values = [(number(v, 2), text(v, 1)) for v in map(read, enum[2])]
                self.enums[prefix + '.' + text(enum, 1)] = [name for _, name in sorted(values)]
                if prefix[1:] in SPACES and sorted(n for n, _ in values) != list(range(len(values))):
                    raise SystemExit(f'tables.py: {text(enum, 1)} has gaps')
            for service in map(read, file.get(6, [])):
                self.methods += [(f'/{prefix[1:]}.{text(service, 1)}/{text(m, 1)}', text(m, 1), m) for m in map(read, service[2])]

    def add(self, prefix, message):
        name = prefix + '.' + text(message, 1)
        self.messages[name] = message
        for nested in map(read, message.get(3, [])):
            self.add(name, nested)

    def reached(self):
        """The names of all messages that the methods lead to, in order."""
        found, left = set(), [text(m, n) for _, _, m in self.methods for n in (2, 3)]
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += [text(f, 6) for f in map(read, self.messages[name].get(2, [])) if number(f, 5) == 11]
        return sorted(found)

    def row(self, fields, field):
        kind, repeated, of = KINDS.get(number(field, 5)), number(field, 4) == 3, text(field, 6)
        entry = kind == 'message' and number(read(number(self.messages[of], 7) or b''), 7)
        oneof = number(field, 9) if 9 in field and not number(field, 17) else None
        if kind is None or number(field, 3) > 31 or (repeated and kind not in ('text', 'message')):
            raise SystemExit(f'tables.py: the codec does not know the kind of {text(field, 1)}')
        label = 'map' if entry else 'repeated' if repeated else 'present' if 9 in field or kind == 'message' else 'filled'
        alone = 0
        for i, other in enumerate(fields):
            same = oneof is not None and 9 in other and not number(other, 17) and number(other, 9) == oneof
            alone |= (1 << i) if not repeated and (other is field or same) else 0
        parts = [f'R"(,"{text(field, 10)}":)"', f'"{text(field, 1)}"', f'{number(field, 3)}', f'field_kind::{kind}',
                 f'field_label::{label}', hex(alone)]
        if kind == 'message':
            parts.append('&' + place(of)[1])
        elif kind == 'enumeration':
            parts += ['nullptr', '&' + place(of)[1]]
        return '    field_row{' + ', '.join(parts) + '},\n'

    def source(self, package):
        space = SPACES[package]
        names = [n for n in self.reached() if place(n)[0] == package]
        out = WARNING + '#include "a2a/protobuf/tables.hpp"\n\n#include "a2a/protobuf/message_type.hpp"\n\n#include <array>\n'
        out += f'\nnamespace a2a::protobuf::{space} {{\nnamespace {{\n'
        for name in sorted(n for n in self.enums if n[1:].rpartition('.')[0] == package):
            values = ''.join(f'    "{v}",\n' for v in self.enums[name])
            out += f'\nconstexpr std::array<std::string_view, {len(self.enums[name])}> {snake(place(name)[1][len(space) + 2:])}_names{{\n{values}}};\n'
        out += '\n}  // namespace\n'
        for name in sorted(n for n in self.enums if n[1:].rpartition('.')[0] == package):
            short = place(name)[1][len(space) + 2:]
            out += f'\nconstexpr enum_type {short}{{{short}_names}};\n'
        out += '\nnamespace {\n'
        for name in names:
            fields = sorted(map(read, self.messages[name].get(2, [])), key=lambda f: number(f, 3))
            rows = ''.join(self.row(fields, f) for f in fields)
            out += f'\nconstexpr std::array<field_row, {len(fields)}> {place(name)[1][len(space) + 2:]}_rows{{\n{rows}}};\n' if fields else ''
        out += '\n}  // namespace\n\n'
        for name in names:
            short = place(name)[1][len(space) + 2:]
            form = FORMS.get(name.rpartition('.')[2], 'plain') if space == 'google' else 'plain'
            rows = short + '_rows' if 2 in self.messages[name] else '{}'
            out += f'constinit const message_type {short}{{"{name[1:]}", message_kind::{form}, {rows}}};\n'
        return out + f'\n}}  // namespace a2a::protobuf::{space}\n'

    def header(self):
        out = WARNING + '#pragma once\n\nnamespace a2a::protobuf {\n\nstruct message_type;\n'
        for package, space in SPACES.items():
            out += f'\nnamespace {space} {{\n'
            out += ''.join(f'extern const message_type {place(n)[1][len(space) + 2:]};\n'
                           for n in self.reached() if place(n)[0] == package)
            out += f'}}  // namespace {space}\n'
        return out + '\n}  // namespace a2a::protobuf\n'

    def rows(self):
        out = WARNING + '#include "a2a/protobuf/methods.hpp"\n#include "a2a/protobuf/tables.hpp"\n\n#include <array>\n'
        out += '\nnamespace a2a::protobuf {\nnamespace {\n\nconstexpr std::array rows{\n'
        for path, name, method in self.methods:
            parts = [f'"{path}"', f'operation::{OPERATIONS[name]}', 'generation::' + SPACES[path[1:].rpartition('.')[0]],
                     '&' + place(text(method, 2))[1], '&' + place(text(method, 3))[1]]
            out += '    service_method{' + ', '.join(parts) + (', true' if number(method, 6) else '') + '},\n'
        out += '};\n\n}  // namespace\n\nstd::span<const service_method> service_methods() noexcept\n{\n    return rows;\n}\n'
        return out + '\n}  // namespace a2a::protobuf\n'


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else HERE
    made = os.path.join(folder, 'descriptors.bin')
    subprocess.run(['protoc', '-I', os.path.join(HERE, 'proto'), '--include_imports', '--descriptor_set_out=' + made,
                    'v1/a2a.proto', 'v03/a2a.proto'], check=True)
    with open(made, 'rb') as file:
        tables = Tables(read(file.read())[1])
    os.remove(made)
    files = {'tables.hpp': tables.header(), 'tables_methods.cpp': tables.rows()}
    files.update({f'tables_{space}.cpp': tables.source(package) for package, space in SPACES.items()})
    for name, content in files.items():
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write(content)


main()
