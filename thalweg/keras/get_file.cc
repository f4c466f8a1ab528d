#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "thalweg/core/error.h"
#include "thalweg/io/digest.h"
#include "thalweg/io/extract.h"
#include "thalweg/io/file.h"
#include "thalweg/keras/datasets/places.h"
#include "thalweg/keras/utils.h"

namespace thalweg::keras::utils {
namespace {
namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// The bytes that %20 and its like stand for.
std::string unescaped(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
      out.push_back(static_cast<char>(code));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

/// The path of an origin on this machine; empty for others.
std::string local_path(const std::string& origin) {
  if (origin.find("://") == std::string::npos) return origin;
  for (const char* start : {"file:///", "file://localhost/"})
    if (origin.starts_with(start)) return unescaped(origin.substr(std::string(start).size() - 1));
  return "";
}

std::string file_name(const std::string& origin) {
  std::string path = origin.substr(0, origin.find_first_of("?#"));
  path = path.find("://") == std::string::npos ? path : unescaped(path);
  std::string name = path.substr(path.rfind('/') + 1);
  if (name.empty()) throw ValueError("get_file: origin '" + origin + "' has no file name; set fname");
  return name;
}

fs::path cache_folder(const GetFileOptions& options) {
  std::error_code error;
  fs::path base = options.cache_dir.empty() ? keras_home() : options.cache_dir;
  if (options.cache_dir.starts_with("~/")) base = fs::path(keras_home()).parent_path() / options.cache_dir.substr(2);
  fs::create_directories(base, error);
  if (::access(base.c_str(), W_OK) != 0) base = fs::temp_directory_path() / ".keras";
  fs::path folder = base / options.cache_subdir;
  fs::create_directories(folder, error);
  if (error)
    throw errors::PermissionDeniedError("get_file: cannot make the folder " + folder.string() + ": " + error.message());
  return folder;
}

/// A digest that a file must have.
struct Expected {
  std::string hash, algorithm;

  explicit Expected(const GetFileOptions& options) : hash(options.file_hash), algorithm(options.hash_algorithm) {
    if (hash.empty() && !options.md5_hash.empty()) {
      hash = options.md5_hash;
      algorithm = "md5";
    }
    if (algorithm == "auto") algorithm = hash.size() == 64 ? "sha256" : "md5";
    if (algorithm != "sha256" && algorithm != "md5")
      throw ValueError("get_file: hash_algorithm must be \"auto\", \"md5\" or \"sha256\"; received \"" + algorithm +
                       "\"");
  }
  bool fits(const std::string& path) const {
    if (hash.empty()) return true;
    io::SourceStream in(io::ByteSource::open(path));
    return (algorithm == "sha256" ? io::sha256(in) : io::md5(in)) == hash;
  }
};

void copy_file(const std::string& from, const std::string& to) {
  io::SourceStream in(io::ByteSource::open(from));
  io::AtomicFile file(to);
  std::vector<std::byte> chunk(1 << 20);
  while (in.remaining() > 0) {
    auto part = std::span(chunk).first(static_cast<size_t>(std::min<uint64_t>(chunk.size(), in.remaining())));
    in.read(part);
    file.write(part);
  }
  file.commit();
}

/// Brings the file from its origin, when that is on this machine and has the right bytes.
void fetch(const std::string& origin, const std::string& path, const Expected& expected) {
  std::string source = local_path(origin);
  if (source.empty())
    throw NotFoundError((is_there(path) ? "get_file: " + path + " has not the " + expected.algorithm + " hash " +
                                              expected.hash + ", and nothing is downloaded: put the file of "
                                        : "get_file: nothing is downloaded: put the file of ") +
                        origin + " at " + path);
  if (!is_there(source)) throw NotFoundError("get_file: there is no file " + source);
  if (!expected.fits(source))
    throw ValueError("get_file: " + source + " is incomplete or damaged: its " + expected.algorithm + " hash is not " +
                     expected.hash);
  copy_file(source, path);
}

}  // namespace

std::string get_file(const std::string& fname, const std::string& origin, const GetFileOptions& options) {
  if (origin.empty()) throw ValueError("get_file: origin, a path or an address, must be given");
  Expected expected(options);
  bool tar = options.archive_format == "auto" || options.archive_format == "tar";
  bool zip = options.archive_format == "auto" || options.archive_format == "zip";
  if (!tar && !zip && !options.archive_format.empty())
    throw ValueError("get_file: archive_format must be \"auto\", \"tar\", \"zip\" or empty; received \"" +
                     options.archive_format + "\"");
  fs::path folder = cache_folder(options);
  std::string name = fname.empty() ? file_name(origin) : fname;
  if (options.untar && name.ends_with(".tar.gz")) name.resize(name.size() - 7);
  std::string unpacked = (folder / name).string(), path = options.untar ? unpacked + ".tar.gz" : unpacked;
  if (!is_there(path) || !expected.fits(path)) fetch(origin, path, expected);
  if (options.untar) {
    if (!is_there(unpacked)) io::extract_archive(path, folder.string(), io::ArchiveFormat::tar);
    return unpacked;
  }
  if (options.extract && (tar || zip))
    io::extract_archive(path, folder.string(),
                        tar && zip ? io::ArchiveFormat::any
                        : tar      ? io::ArchiveFormat::tar
                                   : io::ArchiveFormat::zip);
  return path;
}

}  // namespace thalweg::keras::utils
